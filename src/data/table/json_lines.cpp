#include "data/table/json_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/json.hpp"
#include "data/table/column_plan.hpp"
#include "data/table/number.hpp"
#include "data/table/raw_cells.hpp"
#include "data/table/read_error.hpp"
#include "data/table/target_column.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostFields = 1 << 16;

struct JsonColumn {
  std::string name;
  bool is_target = false, is_skipped = false;
  RawCells cells;
  std::vector<double> values;  // of the rows above, and of this one once it was there
};

class JsonLinesParser : public PartReading {
 public:
  JsonLinesParser(const std::string& file, const ReadOptions& options)
      : options_(options), file_(file), target_(options.target_is_classes) {}

  void parse(std::string_view block) override;
  void begin_part(const std::string& file) override {
    file_ = file;
    line_ = 0;
    ends_in_first_file_ = false;
  }
  void begin(const std::string& file, bool within, const PartState* above) override;
  PartState state() const override;
  void unite(const PartState& all, Communicator& communicator) override;
  Table finish() override;

 private:
  void parse_line(std::string_view line);
  [[noreturn]] void fail_by_fields() const;
  void name_target(const std::vector<JsonField>& first);
  JsonColumn& column_of(const std::string& name);
  JsonColumn& add_column(const std::string& name);
  void add_cell(JsonColumn& column, const Json& value);
  void add_target(const Json& value);
  void add_feature(JsonColumn& column, const Json& value);
  void check_names() const;
  [[noreturn]] void fail_twice(const std::string& name) const;
  [[noreturn]] void fail_field(const std::string& name, const std::string& expected, const Json& value) const;

  ReadOptions options_;
  std::string file_;
  TargetColumn target_;
  std::string target_name_;
  bool has_target_ = false;  // a line had it
  Index target_rows_ = 0;
  std::vector<std::unique_ptr<JsonColumn>> columns_;
  std::unordered_map<std::string, JsonColumn*> by_name_;
  Index rows_ = 0;
  std::int64_t line_ = 0;
  double bytes_ = 0;  // read so far
  // Of a part that this process reads, while others read the other parts.
  bool begins_within_ = false, ends_in_first_file_ = true, has_rows_above_ = false;
  Communicator* communicator_ = nullptr;
};

void JsonLinesParser::parse(std::string_view block) {
  bytes_ += static_cast<double>(block.size());
  while (!block.empty()) {
    const std::size_t end = block.find('\n');
    const std::string_view line = block.substr(0, end);
    block.remove_prefix(end + 1);
    ++line_;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) parse_line(line);
  }
}

void JsonLinesParser::parse_line(std::string_view line) {
  const auto fields = parse_json_fields(line, fmt::format("{}: line {}", file_, line_), kMostFields + 1);
  if (fields.empty()) fail_in_line(file_, line_, "expected an object with fields, such as {\"a\": 1}");
  if (fields.size() > kMostFields) fail_by_fields();
  if (rows_ == 0 && !has_rows_above_) name_target(fields);
  for (const auto& [name, value] : fields) add_cell(column_of(name), value);
  ++rows_;
  for (const auto& column : columns_) {
    if (!column->is_skipped && !column->is_target && static_cast<Index>(column->values.size()) < rows_) {
      add_feature(*column, Json());
    }
  }
  if (has_target_ && target_rows_ < rows_ && !options_.ignores_target) {
    fail_in_line(file_, line_, fmt::format("the target {} is missing", in_quotes(target_name_)));
  }
}

void JsonLinesParser::fail_by_fields() const {
  fail_in_line(file_, line_, fmt::format("there are more than {} fields: is this a table?", kMostFields));
}

void JsonLinesParser::name_target(const std::vector<JsonField>& first) {
  if (!options_.has_target) return;
  target_name_ = options_.target.value_or(first.back().name);
  if (!options_.target_may_be_missing) has_target_ = true;
}

JsonColumn& JsonLinesParser::column_of(const std::string& name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return *found->second;
  if (columns_.size() >= kMostFields) fail_by_fields();
  // Few fields in each line, and others in every one: a table of gaps alone.
  constexpr double kMostCells = 1 << 26, kMostCellsPerByte = 64;
  if (static_cast<double>(rows_) * static_cast<double>(columns_.size()) > kMostCells + kMostCellsPerByte * bytes_) {
    fail_in_line(file_, line_, "nearly every field is missing in nearly every line: is this a table?");
  }
  JsonColumn& column = add_column(name);
  has_target_ |= column.is_target;
  if (column.is_target && rows_ > target_rows_ && !options_.ignores_target) {
    fail_in_line(file_, line_, fmt::format("the target {} is missing in the lines above", in_quotes(name)));
  }
  if (!column.is_target && !column.is_skipped) {
    // Gaps in the lines above.
    for (Index row = 0; row < rows_; ++row) add_feature(column, Json());
    if (has_rows_above_) add_feature(column, Json()), column.values.pop_back();
  }
  return column;
}

// Without rows yet.
JsonColumn& JsonLinesParser::add_column(const std::string& name) {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto known = std::find_if(options_.known.begin(), options_.known.end(),
                                  [&](const KnownColumn& column) { return column.name == name; });
  const KnownColumn* const kind = known == options_.known.end() ? nullptr : &*known;
  columns_.push_back(std::make_unique<JsonColumn>(JsonColumn{name, false, false, {kind, options_.refuses_gaps}, {}}));
  JsonColumn& column = *columns_.back();
  column.is_target = options_.has_target && name == target_name_;
  column.is_skipped = !column.is_target && (has(options_.ignore) || (!options_.only.empty() && !has(options_.only)) ||
                                            (options_.only_known && kind == nullptr));
  by_name_.emplace(name, &column);
  return column;
}

void JsonLinesParser::add_cell(JsonColumn& column, const Json& value) {
  if (column.is_target) return add_target(value);
  if (column.is_skipped) return;
  if (static_cast<Index>(column.values.size()) > rows_) fail_twice(column.name);
  add_feature(column, value);
}

void JsonLinesParser::add_target(const Json& value) {
  if (options_.ignores_target) return;
  if (target_rows_++ > rows_) fail_twice(target_name_);
  const bool is_text = value.is_string() || value.is_boolean();
  if (!is_text && !value.is_number()) fail_field(target_name_, "a number or a class", value);
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::optional<double> number = is_text ? number_of_all(text) : std::optional(value.get<double>());
  if (text.empty() || (number ? !std::isfinite(*number) : is_non_finite_word(text))) {
    fail_field(target_name_, "a number or a class", value);
  }
  const std::string expected = number ? target_.add_number(text, *number) : target_.add_text(text);
  if (!expected.empty()) fail_field(target_name_, expected, value);
}

void JsonLinesParser::add_feature(JsonColumn& column, const Json& value) {
  if (value.is_structured()) fail_field(column.name, "a number, a text, true, false or null", value);
  const std::string text = value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  const std::optional<double> number =
      value.is_number() ? std::optional(value.get<double>()) : number_of_all(text, false);
  if (number ? !std::isfinite(*number) : is_infinity_word(text)) fail_field(column.name, "a finite number", value);
  if (!options_.raw && !number) fail_field(column.name, "a number", value);
  double cell = 0;
  const ColumnOfMatrix above{column.values.data(), 1, static_cast<Index>(column.values.size())};
  if (!column.cells.find(text, cell)) {
    const std::string expected = column.cells.add(text, number, line_, above, cell);
    if (!expected.empty()) fail_field(column.name, expected, value);
  }
  column.values.push_back(cell);
}

void JsonLinesParser::fail_twice(const std::string& name) const {
  fail_in_line(file_, line_, fmt::format("the field {} stands there twice: give it once", in_quotes(name)));
}

void JsonLinesParser::fail_field(const std::string& name, const std::string& expected, const Json& value) const {
  const std::string found = value.is_null()     ? "nothing"
                            : value.is_object() ? "an object"
                            : value.is_array()  ? "a list"
                            : value.is_string() ? in_quotes(value.get<std::string>())
                                                : in_quotes(value.dump());
  fail_in_line(file_, line_, fmt::format("field {}: expected {}, found {}", in_quotes(name), expected, found));
}

// A column that was asked for must have been there.
void JsonLinesParser::check_names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column->name);
  const auto check = [&](const char* option, const std::string& name) {
    if (by_name_.contains(name)) return;
    throw Error(Fault::usage, fmt::format("{}: {} {}: there is no such column: {}", file_, option, in_quotes(name),
                                          column_advice(name, names)));
  };
  for (const std::string& name : options_.ignore) check("--ignore", name);
  for (const std::string& name : options_.only) check("--only", name);
  if (!options_.only_known && !options_.known_by_place) {
    for (const KnownColumn& known : options_.known) check("--categorical", known.name);
  }
  if (options_.has_target && !options_.target_may_be_missing) check("--target", target_name_);
}

void JsonLinesParser::begin(const std::string& file, bool within, const PartState* above) {
  file_ = file;
  begins_within_ = within;
  ends_in_first_file_ = true;
  line_ = within && above != nullptr ? above->place.line : 0;
  if (options_.has_target) target_name_ = options_.target.value_or("");
  if (above == nullptr) return;
  has_rows_above_ = above->has_rows;
  has_target_ = options_.has_target && !options_.target_may_be_missing;
  target_.begin_below(above->target);
  for (std::size_t i = 0; i < above->names.size(); ++i) {
    add_column(above->names[i]).cells.begin_below(above->cells[i]);
  }
}

PartState JsonLinesParser::state() const {
  PartState state;
  state.place = {line_, 1, 0};
  state.begins_within = begins_within_;
  state.ends_in_first_file = ends_in_first_file_;
  state.has_row_in_first_file = state.has_rows = rows_ > 0 || has_rows_above_;
  state.target = target_.state();
  for (const auto& column : columns_) {
    state.names.push_back(column->name);
    state.cells.push_back(column->cells.state({column->values.data(), 1, static_cast<Index>(column->values.size())}));
  }
  return state;
}

void JsonLinesParser::unite(const PartState& all, Communicator& communicator) {
  communicator_ = &communicator;
  if (options_.has_target) has_target_ = true;
  if (has_target_ && !options_.ignores_target) target_.unite(all.target);
  std::vector<std::unique_ptr<JsonColumn>> ordered;
  for (std::size_t i = 0; i < all.names.size(); ++i) {
    if (!by_name_.contains(all.names[i])) {
      add_column(all.names[i]).values.resize(static_cast<std::size_t>(rows_), std::nan(""));
    }
    const JsonColumn* const wanted = by_name_.at(all.names[i]);
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const auto& one) { return one.get() == wanted; });
    JsonColumn& column = *ordered.emplace_back(std::move(*found));
    if (!column.is_target && !column.is_skipped) {
      column.cells.unite(all.cells[i], {column.values.data(), 1, rows_}, communicator);
    }
  }
  columns_ = std::move(ordered);
}

Table JsonLinesParser::finish() {
  check_names();
  std::erase_if(columns_, [](const auto& column) { return column->is_target || column->is_skipped; });
  if (columns_.empty()) fail_in_file(file_, "there is no field beside the target: expected features");
  Table table;
  DenseMatrix<double> features(rows_, static_cast<Index>(columns_.size()));
  bool is_plain = true;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    JsonColumn& column = *columns_[i];
    const ColumnOfMatrix values{column.values.data(), 1, rows_};
    if (const auto slip = column.cells.find_slip(values, communicator_)) {
      fail_in_line(
          file_, slip->line,
          fmt::format("field {}: expected a number as in nearly all rows, found {}; take null if it is unknown, "
                      "or --categorical {}",
                      in_quotes(column.name), in_quotes(slip->text), printable(column.name)));
    }
    features.col(static_cast<Index>(i)) = Eigen::Map<const Vector<double>>(column.values.data(), rows_);
    column.values = {};
    is_plain &= column.cells.is_plain();
    table.feature_names.push_back(column.name);
    table.raw_columns.push_back(std::move(column.cells).finish());
  }
  if (is_plain) table.raw_columns.clear();
  table.features = std::move(features);
  if (has_target_ && !options_.ignores_target) {
    std::move(target_).finish(table);
    table.target_name = target_name_;
  }
  return table;
}

}  // namespace

bool looks_like_json_lines(std::string_view first_block) {
  const std::size_t first = first_block.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && first_block[first] == '{';
}

std::string last_field_of(std::string_view first_lines, const std::string& file) {
  for (std::int64_t number = 1; !first_lines.empty(); ++number) {
    const std::string_view line = first_lines.substr(0, first_lines.find('\n'));
    first_lines.remove_prefix(std::min(first_lines.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json object = parse_ordered_json(line, fmt::format("{}: line {}", file, number));
    return object.is_object() && !object.empty() ? (--object.end()).key() : "";
  }
  return "";
}

std::unique_ptr<PartReading> parse_json_lines(const std::string& file, const ReadOptions& options) {
  return std::make_unique<JsonLinesParser>(file, options);
}

}  // namespace lipschitzlr::data
