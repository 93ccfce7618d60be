#pragma once
// Writes the record of a run as it goes on (see lipschitzlr/run/record.hpp). A resumed run continues the record it
// began. Records are moved and passed on: where the folder was named by an absolute path, the record has its last part
// only.

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::run {

inline constexpr int kRecordVersion = 1;                             // records older than it have none
inline constexpr const char* kNetworkTraining = "network training";  // the "kind" in config.json
inline constexpr const char* kFit = "fit";

class RecordWriter {
 public:
  // Makes the folder and writes config.json: kind, command, options, and what else a kind has. Throws Error (data) when
  // the folder already holds a record.
  RecordWriter(const std::string& folder, const nlohmann::ordered_json& config);

  // Continues the record in the folder, whose metrics are cut to the given number of lines: what a run wrote after its
  // last checkpoint is written again, and files that it left half written are removed. Throws Error (data) when there
  // is no record or it has fewer lines.
  static RecordWriter reopen(const std::string& folder, std::int64_t lines);

  // Every epoch up to 1000, then one per cent apart, so that half a million epochs stay a small file.
  void add(const linear::Progress& now);
  void write(const nlohmann::ordered_json& line);
  std::int64_t lines() const { return lines_; }
  void flush();  // throws Error (data) when the lines so far could not be written
  void finish(nlohmann::ordered_json summary);

 private:
  explicit RecordWriter(const std::string& folder) : folder_(folder), metrics_(nullptr, std::fclose) {}
  void open_metrics();

  std::string folder_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> metrics_;
  std::int64_t lines_ = 0;
  std::int64_t next_ = 0;
};

}  // namespace lipschitzlr::run
