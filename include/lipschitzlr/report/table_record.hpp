#pragma once
// What `lipschitzlr reproduce table1 --json` and `table2 --json` print, read back from a file: the rows of one of the
// paper's tables on classical models, each with its figures over the seeds, its verdict and the reasons for it. A file
// that is empty, cut short or something else says so in faults.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lipschitzlr::report {

// Least, mean and most over the seeds.
struct Range {
  double least = 0, mean = 0, most = 0;
  bool complete = true;  // false: the training was cut short, so a count is only known to be larger
};

struct TableRow {
  std::string name;     // of the recipe, "boston"
  std::string verdict;  // a word of experiment/verdict.hpp
  std::vector<std::string> notes;
  std::map<std::string, Range> rates, figures;  // by the name of the rate: baseline, published, coded, ...
  double majority = 0;                          // a share; 0: not said
  std::int64_t epochs = 0;                      // of Table 2
};

struct TableRecord {
  std::string path;
  std::string table;  // "table1"
  std::int64_t seeds = 0, max_iterations = 0;
  std::vector<TableRow> rows;
  std::vector<std::string> faults;
  bool something_else = false;  // JSON, but of another kind

  // What makes this row again.
  std::string command(const TableRow& row) const;
};

TableRecord read_table_record(const std::string& path);

}  // namespace lipschitzlr::report
