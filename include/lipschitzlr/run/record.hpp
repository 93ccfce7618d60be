#pragma once
// The record of one run on disk: a folder with config.json (what was asked), metrics.jsonl (one line per measurement)
// and summary.json (what came out; absent while the run goes on or when it was cut short).

#include <cstdio>
#include <memory>
#include <string>

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::run {

class Record {
 public:
  // Makes the folder and writes config.json. Throws Error (data) when the folder already holds a record.
  Record(const std::string& folder, const std::string& config_json);

  // Every epoch up to 1000, then one per cent apart, so that half a million epochs stay a small file.
  void add(const linear::Progress& now);
  void finish(const std::string& summary_json);

 private:
  std::string folder_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> metrics_;
  std::int64_t next_ = 0;
};

}  // namespace lipschitzlr::run
