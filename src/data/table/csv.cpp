#include "data/table/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "data/table/csv_cell.hpp"
#include "data/table/csv_layout.hpp"
#include "data/table/number.hpp"
#include "data/table/read_error.hpp"
#include "data/table/target_column.hpp"

namespace lipschitzlr::data {
namespace {

constexpr Index kSpareCells = 1 << 16;

class CsvParser {
 public:
  CsvParser(CsvLayout layout, const std::string& file, const ReadOptions& options, Index expected_rows);

  void parse(std::string_view block);  // whole lines
  Table finish() &&;

 private:
  const char* parse_row(const char* text);
  const char* parse_feature(const char* text, Index column, double& value);
  const char* parse_feature_slowly(const char* text, Index column, double& value);
  const char* parse_target(const char* text);
  Cell take_cell(const char* text, Index column) const;
  [[noreturn]] void fail_cell(Index column, const std::string& expected, const Cell& cell) const;
  [[noreturn]] void fail_number(Index column, const Cell& cell, double value) const;
  [[noreturn]] void fail_ragged(const char* line) const;
  [[noreturn]] void fail_in(Index column, const std::string& what) const;
  std::vector<std::string> feature_names() const;

  CsvLayout layout_;
  const std::string& file_;
  Index width_;  // features in a row
  DenseMatrix<double> features_;
  TargetColumn target_;
  bool ignores_target_;
  Index row_ = 0;
  std::int64_t line_ = 0;
  std::int64_t first_line_ = 0;  // of the header, or else of the first row
  std::int64_t blank_line_ = 0;  // the first of the blank lines just passed; 0: none
};

CsvParser::CsvParser(CsvLayout layout, const std::string& file, const ReadOptions& options, Index expected_rows)
    : layout_(std::move(layout)),
      file_(file),
      width_(layout_.columns() - (layout_.target >= 0 ? 1 : 0)),
      target_(options.target_is_classes),
      ignores_target_(options.ignores_target) {
  if (width_ == 0) fail_in_file(file, "there is only one column, the target: expected features beside it");
  features_.resize(expected_rows, width_);
  if (layout_.target >= 0 && !ignores_target_) target_.reserve(expected_rows);
}

void CsvParser::parse(std::string_view block) {
  const char* text = block.data();
  const char* end = text + block.size();
  while (text != end) {
    ++line_;
    if (*text <= ' ') {
      if (const char* blank_end = find_blank_line_end(text, layout_.delimiter)) {
        if (blank_line_ == 0) blank_line_ = line_;
        text = blank_end + 1;
        continue;
      }
    }
    if (first_line_ == 0) {
      first_line_ = line_;
      if (layout_.has_header) {
        text = std::find(text, end, '\n') + 1;
        blank_line_ = 0;
        continue;
      }
    } else if (blank_line_ != 0) {
      fail_in_line(file_, blank_line_, "the line is blank: expected a row");
    }
    blank_line_ = 0;
    text = parse_row(text);
  }
}

const char* CsvParser::parse_row(const char* text) {
  if (row_ == features_.rows()) features_.conservativeResize(row_ + row_ / 2 + 1 + kSpareCells / width_, width_);
  double* value = features_.data() + row_ * width_;
  const char* line = text;
  const Index last = layout_.columns() - 1;
  for (Index column = 0;; ++column) {
    text = column == layout_.target ? parse_target(text) : parse_feature(text, column, *value++);
    if (column == last) break;
    if (*text == '\n') fail_ragged(line);
    ++text;
  }
  if (*text != '\n') fail_ragged(line);
  ++row_;
  return text + 1;
}

inline const char* CsvParser::parse_feature(const char* text, Index column, double& value) {
  const char* start = text;
  while (*start == ' ') ++start;
  const Number number = read_padded_number(start);
  if (number.end != nullptr && std::isfinite(number.value)) {
    if (const char* end = find_cell_end(number.end, layout_.delimiter)) {
      value = number.value;
      return end;
    }
  }
  return parse_feature_slowly(text, column, value);
}

// Quotes, blanks of other kinds, and everything that is wrong.
const char* CsvParser::parse_feature_slowly(const char* text, Index column, double& value) {
  const Cell cell = take_cell(text, column);
  const Number number = read_number(cell.text.c_str());
  const bool is_number = number.end == cell.text.c_str() + cell.text.size();
  if (!is_number || !std::isfinite(number.value)) fail_number(column, cell, is_number ? number.value : 0);
  value = number.value;
  return cell.end;
}

const char* CsvParser::parse_target(const char* text) {
  const Index column = layout_.target;
  const Cell cell = take_cell(text, column);
  if (ignores_target_) return cell.end;
  const Number number = read_number(cell.text.c_str());
  const bool is_number = number.end == cell.text.c_str() + cell.text.size();
  if (is_number ? !std::isfinite(number.value) : is_non_finite_word(cell.text)) fail_number(column, cell, number.value);
  if (cell.text.empty()) fail_cell(column, "a number or a class", cell);
  const std::string expected = is_number ? target_.add_number(cell.text, number.value) : target_.add_text(cell.text);
  if (!expected.empty()) fail_cell(column, expected, cell);
  return cell.end;
}

Cell CsvParser::take_cell(const char* text, Index column) const {
  Cell cell = read_cell(text, layout_.delimiter);
  if (cell.end == nullptr) {
    fail_in(column, "the quotes of this cell don't match: close them on the same line, and double a quote inside");
  }
  return cell;
}

void CsvParser::fail_in(Index column, const std::string& what) const {
  fail_in_column(file_, line_, column + 1, layout_.names[static_cast<std::size_t>(column)], what);
}

void CsvParser::fail_cell(Index column, const std::string& expected, const Cell& cell) const {
  const std::string found = cell.text.empty() ? "an empty cell" : in_quotes(cell.text);
  fail_in(column, fmt::format("expected {}, found {}", expected, found));
}

void CsvParser::fail_number(Index column, const Cell& cell, double value) const {
  if (std::isinf(value)) fail_cell(column, "a number of at most 1.8e308", cell);
  if (is_non_finite_word(cell.text)) fail_cell(column, "a finite number", cell);
  const std::size_t comma = cell.text.find(',');
  if (comma != std::string::npos && layout_.delimiter != ',') {
    fail_cell(column, "a number with a decimal point, not a comma", cell);
  }
  fail_cell(column, "a number", cell);
}

void CsvParser::fail_ragged(const char* line) const {
  Index cells = 0;
  const char* end = line - 1;
  do {
    end = take_cell(end + 1, std::min(cells, layout_.columns() - 1)).end;
    ++cells;
  } while (*end != '\n');
  fail_in_line(file_, line_,
               fmt::format("expected {} cells as in line {}, found {}", layout_.columns(), first_line_, cells));
}

// A feature without a name gets its number, with as many underscores as no other name has.
std::vector<std::string> CsvParser::feature_names() const {
  const std::unordered_set<std::string> taken(layout_.names.begin(), layout_.names.end());
  std::vector<std::string> names;
  for (Index column = 0; column < layout_.columns(); ++column) {
    if (column == layout_.target) continue;
    std::string name = layout_.names[static_cast<std::size_t>(column)];
    if (name.empty()) {
      name = fmt::format("x{}", names.size() + 1);
      while (taken.contains(name)) name += '_';
    }
    names.push_back(std::move(name));
  }
  return names;
}

Table CsvParser::finish() && {
  if (row_ == 0) fail_in_file(file_, "there is a header but no row");
  Table table;
  features_.conservativeResize(row_, width_);
  table.features = std::move(features_);
  table.feature_names = feature_names();
  table.has_names = layout_.has_header;
  if (!layout_.remark.empty()) table.remarks.push_back(layout_.remark);
  if (layout_.target >= 0 && !ignores_target_) {
    std::move(target_).finish(table);
    const std::string& name = layout_.names[static_cast<std::size_t>(layout_.target)];
    table.target_name = name.empty() ? "target" : name;
    table.target_column = layout_.target;
  }
  return table;
}

// Lines are about as long as the first ones, and a cell takes two bytes or more. A little too many rows cost nothing:
// memory never written to is not used.
Index expect_rows(std::string_view first_block, std::uint64_t expected_size, Index columns) {
  const auto lines = static_cast<double>(std::count(first_block.begin(), first_block.end(), '\n'));
  const auto known_size = static_cast<double>(first_block.size());
  const double size = std::max(static_cast<double>(expected_size), known_size);
  return static_cast<Index>(std::min(1.05 * lines * size / known_size, size / (2.0 * static_cast<double>(columns))) +
                            1);
}

}  // namespace

Table read_csv(std::string_view first_block, LineBlocks& rest, std::uint64_t expected_size, const std::string& file,
               const ReadOptions& options) {
  CsvLayout layout = find_layout(first_block, file, options);
  const Index expected_rows = expect_rows(first_block, expected_size, layout.columns());
  CsvParser parser(std::move(layout), file, options, expected_rows);
  for (std::string_view block = first_block; !block.empty(); block = rest.next()) parser.parse(block);
  return std::move(parser).finish();
}

}  // namespace lipschitzlr::data
