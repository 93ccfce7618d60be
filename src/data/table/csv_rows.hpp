#pragma once
// The rows of a CSV as they are parsed, line by line, into one matrix. Several threads can parse rows that follow one
// another: each has a part, which writes where its rows belong and looks up texts in the whole, and the parts are
// joined in order. A part refuses what only the cells above it can tell (a column of numbers becomes one of texts) and
// whatever is wrong; the whole then parses those lines itself, so that tables and errors are those of one thread.

#include <string>
#include <string_view>
#include <vector>

#include "data/table/csv_cell.hpp"
#include "data/table/csv_layout.hpp"
#include "data/table/part_state.hpp"
#include "data/table/raw_cells.hpp"
#include "data/table/target_column.hpp"

namespace lipschitzlr::data {

class CsvRows {
 public:
  // The layout must outlive this.
  CsvRows(const CsvLayout& layout, const std::string& file, const ReadOptions& options, Index expected_rows);

  void begin_file(const std::string& file);

  // Of a part of the rows that a process reads: it begins within the file, or at its start; above: what stands above
  // it, null when that is not known.
  void begin_part(const std::string& file, bool within, const PartState* above);
  PartState state() const;
  void unite(const PartState& all, Communicator& communicator);  // collective; all: of all processes
  void parse(std::string_view lines);
  void forget_rows() { row_ = 0; }

  Index rows() const { return row_; }
  Index width() const { return width_; }  // features in a row
  const double* data() const { return first_; }
  const std::string& file() const { return file_; }
  bool has_lines() const { return first_line_ != 0; }  // in this file

  // A part of whole, rows_between rows behind those that it has. reserve() makes room for all parts before; whole stays
  // as it is while they are parsed.
  CsvRows(const CsvRows& whole, Index rows_between);
  bool can_have_parts() const { return first_line_ != 0 && blank_line_ == 0 && target_.can_have_parts(); }
  void reserve(Index rows);
  // False, and the lines of the part are to be parsed again, when it can't be joined.
  bool join(const CsvRows& part);

  // The table without names and remarks.
  Table finish() &&;

 private:
  void check_header(const char* line) const;
  double* begin_row();
  const char* parse_row(const char* text);
  const char* parse_mixed_row(const char* text);
  const char* parse_raw_cell(const char* text, Index column, double& value);
  std::optional<double> number_of(std::string_view text) const;
  const char* parse_feature(const char* text, Index column, double& value);
  const char* parse_feature_slowly(const char* text, Index column, double& value);
  const char* parse_target(const char* text);
  Cell take_cell(const char* text, Index column) const;
  [[noreturn]] void fail_cell(Index column, const std::string& expected, const Cell& cell) const;
  [[noreturn]] void fail_number(Index column, const Cell& cell, double value) const;
  [[noreturn]] void fail_quotes(Index column) const;
  [[noreturn]] void fail_ragged(const char* line) const;
  [[noreturn]] void fail_in(Index column, const std::string& what) const;
  bool reads_target() const { return layout_.target >= 0 && !ignores_target_; }
  ColumnOfMatrix values_of(Index feature) const { return {first_ + feature, width_, row_}; }
  void finish_raw_columns(Table& table);
  void check_slip(Index column, Index feature) const;

  const CsvLayout& layout_;
  std::string file_;
  std::string first_file_;  // whose header counts
  Index width_ = 0;
  DenseMatrix<double> features_;
  double* first_;  // cell of the first row
  TargetColumn target_;
  bool ignores_target_;
  bool raw_;
  bool is_part_ = false;
  bool begins_within_ = false;     // a file that another process begins
  Index rows_of_first_file_ = -1;  // -1: it has not ended
  bool has_rows_above_ = false;
  Communicator* communicator_ = nullptr;
  bool is_mixed_ = false;        // some column is skipped, or has other cells than numbers
  std::vector<RawCells> cells_;  // one for each feature, of a raw table
  std::string scratch_;
  Index row_ = 0;  // in the matrix
  std::int64_t line_ = 0;
  std::int64_t first_line_ = 0;  // of the header, or else of the first row
  std::int64_t blank_line_ = 0;  // the first of the blank lines just passed; 0: none
};

}  // namespace lipschitzlr::data
