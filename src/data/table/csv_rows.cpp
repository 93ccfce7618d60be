#include "data/table/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/table/number.hpp"
#include "data/table/read_error.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

constexpr Index kSpareCells = 1 << 16;

}  // namespace

CsvRows::CsvRows(const CsvLayout& layout, const std::string& file, const ReadOptions& options, Index expected_rows)
    : layout_(layout),
      file_(file),
      first_file_(file),
      target_(options.target_is_classes),
      ignores_target_(options.ignores_target),
      raw_(options.raw) {
  if (layout_.columns() == 1 && layout_.target >= 0) {
    fail_in_file(file_, "there is only one column, the target: expected features beside it");
  }
  for (Index column = 0; column < layout_.columns(); ++column) {
    const ColumnPlan& plan = layout_.plans[static_cast<std::size_t>(column)];
    if (column == layout_.target) continue;
    is_mixed_ |= plan.skipped || plan.known != nullptr;
    if (plan.skipped) continue;
    if (raw_) cells_.emplace_back(plan.known, options.refuses_gaps);
    ++width_;
  }
  if (width_ == 0) throw Error(Fault::usage, fmt::format("{}: --ignore or --only leaves no feature", file_));
  features_.resize(expected_rows, width_);
  first_ = features_.data();
  if (reads_target()) target_.reserve(expected_rows);
}

CsvRows::CsvRows(const CsvRows& whole, Index rows_between)
    : layout_(whole.layout_),
      file_(whole.file_),
      first_file_(whole.first_file_),
      width_(whole.width_),
      first_(whole.first_ + (whole.row_ + rows_between) * width_),
      target_(whole.target_, whole.reads_target() ? rows_between : 0),
      ignores_target_(whole.ignores_target_),
      raw_(whole.raw_),
      is_part_(true),
      is_mixed_(whole.is_mixed_),
      first_line_(whole.first_line_) {
  cells_.reserve(whole.cells_.size());
  for (const RawCells& cells : whole.cells_) cells_.emplace_back(&cells);
}

void CsvRows::reserve(Index rows) {
  if (row_ + rows > features_.rows()) {
    features_.conservativeResize(std::max(row_ + rows, row_ + row_ / 2 + 1 + kSpareCells / width_), width_);
    first_ = features_.data();
  }
  if (reads_target()) target_.reserve(rows);
}

bool CsvRows::join(const CsvRows& part) {
  bool fits = part.blank_line_ == 0 && target_.can_join(part.target_);
  for (std::size_t i = 0; i < cells_.size() && fits; ++i) fits = cells_[i].can_join(part.cells_[i]);
  if (!fits) return false;
  target_.join(part.target_);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].join(part.cells_[i], part.values_of(static_cast<Index>(i)));
  }
  row_ += part.row_;
  line_ += part.line_;
  return true;
}

void CsvRows::begin_part(const std::string& file, bool within, const PartState* above) {
  begin_file(file);
  rows_of_first_file_ = -1;
  begins_within_ = within;
  if (within) first_line_ = 1;
  if (above == nullptr) return;
  has_rows_above_ = above->has_rows;
  if (reads_target()) target_.begin_below(above->target);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].begin_below(above->cells[i]);
    is_mixed_ |= cells_[i].kind() != ColumnKind::number;
  }
  if (within) line_ = above->place.line, first_line_ = above->place.first_line, blank_line_ = above->place.blank_line;
}

PartState CsvRows::state() const {
  const Index rows_of_first = rows_of_first_file_ < 0 ? row_ : rows_of_first_file_;
  PartState state;
  state.place = {line_, first_line_, blank_line_};
  state.begins_within = begins_within_;
  state.ends_in_first_file = rows_of_first_file_ < 0;
  state.has_row_in_first_file = rows_of_first > 0;
  state.has_rows = row_ > 0 || has_rows_above_;
  state.target = target_.state();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    state.cells.push_back(cells_[i].state(values_of(static_cast<Index>(i))));
  }
  return state;
}

void CsvRows::unite(const PartState& all, Communicator& communicator) {
  communicator_ = &communicator;
  if (reads_target()) target_.unite(all.target);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].unite(all.cells[i], values_of(static_cast<Index>(i)), communicator);
  }
}

void CsvRows::begin_file(const std::string& file) {
  if (rows_of_first_file_ < 0) rows_of_first_file_ = row_;
  file_ = file;
  line_ = first_line_ = blank_line_ = 0;
}

void CsvRows::parse(std::string_view lines) {
  const char* text = lines.data();
  const char* end = text + lines.size();
  while (text != end) {
    ++line_;
    if (*text <= ' ') {
      // Tabs alone above a header are blanks, as they are to find_layout().
      const char delimiter = first_line_ == 0 && layout_.has_header ? ' ' : layout_.delimiter;
      if (const char* blank_end = find_blank_line_end(text, delimiter)) {
        if (blank_line_ == 0) blank_line_ = line_;
        text = blank_end + 1;
        continue;
      }
    }
    if (first_line_ == 0) {
      first_line_ = line_;
      if (layout_.has_header) {
        if (file_ != first_file_) check_header(text);
        text = std::find(text, end, '\n') + 1;
        blank_line_ = 0;
        continue;
      }
    } else if (blank_line_ != 0) {
      fail_in_line(file_, blank_line_, "the line is blank: expected a row");
    }
    blank_line_ = 0;
    text = is_mixed_ ? parse_mixed_row(text) : parse_row(text);
  }
}

// The columns of a part must be those of the first one, in their order.
void CsvRows::check_header(const char* line) const {
  const char* text = line - 1;
  for (Index column = 0; column < layout_.columns(); ++column) {
    const Cell cell = take_cell(text + 1, column);
    const std::string& name = layout_.names[static_cast<std::size_t>(column)];
    text = cell.end;
    if (cell.text != name) {
      fail_in_column(file_, line_, column + 1, "",
                     fmt::format("the header has {} where that of {} has {}: parts of a table need the same columns",
                                 in_quotes(cell.text), first_file_, in_quotes(name)));
    }
    if (*text == '\n' && column + 1 < layout_.columns()) fail_ragged(line);
  }
  if (*text != '\n') fail_ragged(line);
}

double* CsvRows::begin_row() {
  if (!is_part_ && row_ == features_.rows()) reserve(1);
  return first_ + row_ * width_;
}

const char* CsvRows::parse_row(const char* text) {
  double* value = begin_row();
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

// The same when columns are skipped, or have other cells than numbers.
const char* CsvRows::parse_mixed_row(const char* text) {
  double* value = begin_row();
  const char* line = text;
  const Index last = layout_.columns() - 1;
  Index feature = 0;
  for (Index column = 0;; ++column) {
    if (column == layout_.target) {
      text = parse_target(text);
    } else if (layout_.plans[static_cast<std::size_t>(column)].skipped) {
      text = view_cell(text, layout_.delimiter, scratch_).end;
      if (text == nullptr) fail_quotes(column);
    } else if (raw_ && cells_[static_cast<std::size_t>(feature)].kind() != ColumnKind::number) {
      text = parse_raw_cell(text, column, value[feature++]);
    } else {
      text = parse_feature(text, column, value[feature++]);
    }
    if (column == last) break;
    if (*text == '\n') fail_ragged(line);
    ++text;
  }
  if (*text != '\n') fail_ragged(line);
  ++row_;
  return text + 1;
}

[[gnu::always_inline]] inline const char* CsvRows::parse_feature(const char* text, Index column, double& value) {
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
const char* CsvRows::parse_feature_slowly(const char* text, Index column, double& value) {
  if (raw_) return parse_raw_cell(text, column, value);
  const Cell cell = take_cell(text, column);
  const Number number = read_number(cell.text.c_str());
  const bool is_number = number.end == cell.text.c_str() + cell.text.size();
  if (!is_number || !std::isfinite(number.value)) fail_number(column, cell, is_number ? number.value : 0);
  value = number.value;
  return cell.end;
}

// Any cell of a raw table.
const char* CsvRows::parse_raw_cell(const char* text, Index column, double& value) {
  const CellView cell = view_cell(text, layout_.delimiter, scratch_);
  if (cell.end == nullptr) fail_quotes(column);
  const Index feature = &value - (first_ + row_ * width_);
  RawCells& cells = cells_[static_cast<std::size_t>(feature)];
  if (cells.find(cell.text, value)) return cell.end;
  const std::optional<double> number = number_of(cell.text);
  const auto copy = [&] { return Cell{std::string(cell.text), cell.end}; };
  if (number ? std::isinf(*number) : is_infinity_word(cell.text)) fail_number(column, copy(), number.value_or(0));
  const std::string expected = cells.add(cell.text, number, line_, values_of(feature), value);
  if (!expected.empty()) fail_cell(column, expected, copy());
  is_mixed_ |= cells.kind() != ColumnKind::number;
  return cell.end;
}

// In a raw table whose cells no comma parts, it is a decimal point.
std::optional<double> CsvRows::number_of(std::string_view text) const {
  return number_of_all(text, raw_ && layout_.delimiter != ',');
}

const char* CsvRows::parse_target(const char* text) {
  const Index column = layout_.target;
  const Cell cell = take_cell(text, column);
  if (ignores_target_) return cell.end;
  const std::optional<double> number = number_of_all(cell.text, layout_.delimiter != ',');
  if (number ? !std::isfinite(*number) : is_non_finite_word(cell.text)) fail_number(column, cell, number.value_or(0));
  if (cell.text.empty()) fail_cell(column, "a number or a class", cell);
  const std::string expected = number ? target_.add_number(cell.text, *number) : target_.add_text(cell.text);
  if (!expected.empty()) fail_cell(column, expected, cell);
  return cell.end;
}

Cell CsvRows::take_cell(const char* text, Index column) const {
  Cell cell = read_cell(text, layout_.delimiter);
  if (cell.end == nullptr) fail_quotes(column);
  return cell;
}

void CsvRows::fail_quotes(Index column) const {
  fail_in(column, "the quotes of this cell don't match: close them on the same line, and double a quote inside");
}

void CsvRows::fail_in(Index column, const std::string& what) const {
  fail_in_column(file_, line_, column + 1, layout_.names[static_cast<std::size_t>(column)], what);
}

void CsvRows::fail_cell(Index column, const std::string& expected, const Cell& cell) const {
  const std::string found = cell.text.empty() ? "an empty cell" : in_quotes(cell.text);
  fail_in(column, fmt::format("expected {}, found {}", expected, found));
}

void CsvRows::fail_number(Index column, const Cell& cell, double value) const {
  if (std::isinf(value)) fail_cell(column, "a number of at most 1.8e308", cell);
  if (is_non_finite_word(cell.text)) fail_cell(column, "a finite number", cell);
  const std::size_t comma = cell.text.find(',');
  if (comma != std::string::npos && layout_.delimiter != ',') {
    fail_cell(column, "a number with a decimal point, not a comma", cell);
  }
  fail_cell(column, "a number", cell);
}

void CsvRows::fail_ragged(const char* line) const {
  Index cells = 0;
  const char* end = line - 1;
  do {
    end = take_cell(end + 1, std::min(cells, layout_.columns() - 1)).end;
    ++cells;
  } while (*end != '\n');
  fail_in_line(file_, line_,
               fmt::format("expected {} cells as in line {}{}, found {}", layout_.columns(),
                           file_ == first_file_ ? first_line_ : 1,
                           file_ == first_file_ ? "" : fmt::format(" of {}", first_file_), cells));
}

void CsvRows::finish_raw_columns(Table& table) {
  Index feature = 0, place = 0;
  bool is_plain = true;
  for (Index column = 0; column < layout_.columns(); ++column) {
    if (column == layout_.target) continue;
    if (!layout_.plans[static_cast<std::size_t>(column)].skipped) {
      table.places.push_back(place);
      if (raw_) is_plain &= cells_[static_cast<std::size_t>(feature)].is_plain();
      if (raw_) check_slip(column, feature);
      ++feature;
    }
    ++place;
  }
  table.width = place;
  if (table.width == width_) table.places.clear();
  if (is_plain) return;
  for (RawCells& cells : cells_) table.raw_columns.push_back(std::move(cells).finish());
}

void CsvRows::check_slip(Index column, Index feature) const {
  const auto slip = cells_[static_cast<std::size_t>(feature)].find_slip(values_of(feature), communicator_);
  if (!slip) return;
  const std::string& name = layout_.names[static_cast<std::size_t>(column)];
  const std::string option = name.empty() ? std::to_string(column + 1) : printable(name);
  fail_in_column(file_, slip->line, column + 1, name,
                 fmt::format("expected a number as in nearly all rows, found {}; leave it empty if it is unknown, or "
                             "take --categorical {} or --ignore {}",
                             in_quotes(slip->text), option, option));
}

Table CsvRows::finish() && {
  Table table;
  finish_raw_columns(table);
  features_.conservativeResize(row_, width_);
  table.features = std::move(features_);
  if (reads_target()) std::move(target_).finish(table);
  return table;
}

}  // namespace lipschitzlr::data
