#pragma once
// The record of one run on disk: a folder with config.json (what was asked), metrics.jsonl (one line per measurement)
// and summary.json (what came out; absent while the run goes on or when it was cut short). A run that is resumed goes
// on with the record it began.

#include <cstdio>
#include <memory>
#include <string>

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::run {

class Record {
 public:
  // Makes the folder and writes config.json. Throws Error (data) when the folder already holds a record.
  Record(const std::string& folder, const std::string& config_json);

  // Before long work that ends in a record: throws Error (data) when the folder holds one already or can't be made.
  static void expect_room(const std::string& folder);

  // Goes on with the record in the folder, whose metrics are cut to the given number of lines: what a run wrote after
  // its last checkpoint is written again, and files that it left half written are removed. Throws Error (data) when
  // there is no record or it has fewer lines.
  static Record reopen(const std::string& folder, std::int64_t lines);

  // Every epoch up to 1000, then one per cent apart, so that half a million epochs stay a small file.
  void add(const linear::Progress& now);
  void write(const std::string& json_line);
  std::int64_t lines() const { return lines_; }
  void flush();  // throws Error (data) when the lines so far could not be written
  void finish(const std::string& summary_json);

 private:
  explicit Record(const std::string& folder) : folder_(folder), metrics_(nullptr, std::fclose) {}
  void open_metrics();

  std::string folder_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> metrics_;
  std::int64_t lines_ = 0;
  std::int64_t next_ = 0;
};

}  // namespace lipschitzlr::run
