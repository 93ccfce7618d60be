#pragma once
// A report as data, before it becomes a page or a file: sentences, tables whose every figure knows where it comes from,
// and charts. It knows nothing of HTML.

#include <limits>
#include <string>
#include <vector>

namespace lipschitzlr::report {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Where figures come from: a record or a file, and what to type to make it again.
struct Origin {
  std::string name;
  std::string path;     // as named by the user; empty: there is nothing to link to
  std::string command;  // empty: the record does not say
  std::string state = "complete";
  std::vector<std::string> faults;
};
inline constexpr int kNoSource = -1;

struct Cell {
  std::string text;
  double value = kNoNumber;  // to sort by and to write to files
  int source = kNoSource;    // counts in Document::sources
  std::string remark;        // shown on request: "least 46,060, most 46,164"
};

struct Column {
  std::string group;  // neighbours of the same group share a heading; empty: none
  std::string head;
  bool number = true;
};

struct TableRow {
  std::string id;
  std::vector<Cell> cells;  // one for each column
  std::string verdict;      // empty: the table has none
  std::vector<std::string> reasons;
  std::vector<int> sources;
  std::string hint;  // a command that would make the row, when there is no source
};

struct Table {
  std::string id, title, about;
  std::vector<Column> columns;
  std::vector<TableRow> rows;
};

enum class Role { validation, training, authors, authors_training, other };

struct Series {
  std::string label;
  Role role = Role::other;
  int color = 0;  // series of the same run share one
  std::vector<double> x, y;
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  double end = kNoNumber;  // of our own series, when others go on beyond
};

enum class ChartKind {
  lines,
  bars,   // to the left and the right of zero, one for each name; the series' x count up
  steps,  // a histogram: y from one x to the next
  matrix  // numbers, one row and one column for each name; no series
};

struct Chart {
  std::string id, title, about;
  Axis x, y;
  std::vector<Series> series;
  bool small = false;  // one of many panels
  ChartKind kind = ChartKind::lines;
  std::vector<std::string> names = {};
  std::vector<std::vector<double>> matrix = {};
};

struct ChartGroup {
  std::string id, title, about;
  std::vector<Chart> charts;
};

struct Tally {
  std::string word;
  int count = 0;
};

struct Document {
  std::string title;
  std::vector<std::string> summary;  // sentences for somebody in a hurry
  std::vector<Tally> tally;          // verdicts over all tables
  std::vector<Table> tables;         // of the paper
  std::vector<ChartGroup> charts;
  Table runs;  // every record given, readable or not
  std::vector<Origin> sources;
};

}  // namespace lipschitzlr::report
