#include "data/table/libsvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/table/number.hpp"
#include "data/table/read_error.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

// Every column has a name, so an index with too many digits by mistake would fill the memory. ReadOptions.columns goes
// beyond.

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_word(char c) { return is_blank(c) || c == '\n' || c == '#'; }

const char* skip_blanks(const char* text) {
  while (is_blank(*text)) ++text;
  return text;
}

std::string_view word_at(const char* text) {
  const char* end = text;
  while (!ends_word(*end)) ++end;
  return {text, end};
}

// Whether "digits:" stands here.
bool starts_pair(std::string_view word) {
  const std::size_t colon = word.find_first_not_of("0123456789");
  return colon != std::string_view::npos && colon > 0 && word[colon] == ':';
}

class LibsvmParser {
 public:
  LibsvmParser(const std::string& file, const ReadOptions& options);

  void parse(std::string_view block);  // whole lines
  Table finish() &&;

 private:
  const char* parse_row(const char* text);
  const char* parse_label(const char* text);
  const char* parse_pair(const char* text);
  Index parse_index(const char*& text) const;
  double parse_value(const char*& text) const;
  SparseMatrix<double> make_matrix(Index first_index, Index columns);
  [[noreturn]] void fail(const char* place, const std::string& what) const;

  const std::string& file_;
  bool has_target_;
  bool target_may_be_missing_;  // the first row decides
  Index most_columns_;
  std::optional<Index> first_index_;
  Index fewest_columns_;
  Index largest_index_ = 0;
  bool has_zero_ = false;  // an index 0
  Index last_index_ = -1;  // of the row being read
  std::vector<double> values_;
  std::vector<std::int32_t> indices_;
  std::vector<std::int32_t> row_starts_ = {0};
  std::vector<double> target_;
  const char* line_start_ = nullptr;
  std::int64_t line_ = 0;
  std::int64_t blank_line_ = 0;  // the first of the blank lines just passed; 0: none
};

LibsvmParser::LibsvmParser(const std::string& file, const ReadOptions& options)
    : file_(file),
      has_target_(options.has_target),
      target_may_be_missing_(options.target_may_be_missing),
      most_columns_(std::max(kMostColumns, options.columns)),
      first_index_(options.first_index),
      fewest_columns_(options.columns) {
  if (options.columns < 0 || options.columns > std::numeric_limits<std::int32_t>::max()) {
    throw Error(Fault::usage, fmt::format("{}: {} is not a possible number of features", file, options.columns));
  }
  if (options.has_target && options.target && !options.target_may_be_missing) {
    throw Error(Fault::usage,
                fmt::format("{}: a LIBSVM file has its target in front of each line: leave out the target {}", file,
                            in_quotes(*options.target)));
  }
}

void LibsvmParser::parse(std::string_view block) {
  const char* text = block.data();
  const char* end = text + block.size();
  while (text != end) {
    ++line_;
    line_start_ = text;
    text = skip_blanks(text);
    if (*text == '\n' && blank_line_ == 0) blank_line_ = line_;
    if (*text != '\n' && *text != '#') text = parse_row(text);
    text = std::find(text, end, '\n') + 1;
  }
}

const char* LibsvmParser::parse_row(const char* text) {
  if (blank_line_ != 0 && row_starts_.size() > 1) {
    fail_in_line(file_, blank_line_, "the line is blank: a row without features needs at least a label, such as 0");
  }
  blank_line_ = 0;
  last_index_ = -1;
  const bool has_label = !starts_pair(word_at(text));
  if (target_may_be_missing_ && row_starts_.size() == 1) has_target_ = has_target_ && has_label;
  if (has_target_ || has_label) text = parse_label(text);
  for (text = skip_blanks(text); *text != '\n' && *text != '#'; text = skip_blanks(text)) text = parse_pair(text);
  row_starts_.push_back(static_cast<std::int32_t>(values_.size()));
  return text;
}

const char* LibsvmParser::parse_label(const char* text) {
  const Number number = read_padded_number(text);
  if (number.end == nullptr || !ends_word(*number.end) || !std::isfinite(number.value)) {
    fail(text, fmt::format("expected a number as label, found {}", in_quotes(word_at(text))));
  }
  if (has_target_) target_.push_back(number.value);
  return number.end;
}

const char* LibsvmParser::parse_pair(const char* text) {
  const Index index = parse_index(text);
  const double value = parse_value(text);
  last_index_ = index;
  largest_index_ = std::max(largest_index_, index);
  has_zero_ |= index == 0;
  if (value == 0) return text;
  if (values_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail_in_line(file_, line_, "the file holds more than 2147483647 values, the most a sparse table can store");
  }
  values_.push_back(value);
  indices_.push_back(static_cast<std::int32_t>(index));
  return text;
}

// Moves text past the colon.
Index LibsvmParser::parse_index(const char*& text) const {
  const char* p = text;
  Index index = 0;
  for (; detail::is_digit(*p); ++p) index = std::min(index * 10 + (*p - '0'), most_columns_ + 1);
  const std::string_view word = word_at(text);
  if (word.starts_with("qid:")) fail(text, "ranking data (qid:) is not supported: remove the qid of each line");
  if (p == text || *p != ':') fail(text, fmt::format("expected index:value, found {}", in_quotes(word)));
  if (index < first_index_.value_or(0)) {
    fail(text, fmt::format("indices start at 1 as in the model's rows, found {}", in_quotes(word)));
  }
  if (index > most_columns_) {
    fail(text, fmt::format("expected an index of at most {}, found {}", most_columns_, in_quotes(word)));
  }
  if (index == last_index_) fail(text, fmt::format("index {} is there twice in this line", index));
  if (index < last_index_) {
    fail(text, fmt::format("indices must ascend within a line, found {} after {}", index, last_index_));
  }
  text = p + 1;
  return index;
}

double LibsvmParser::parse_value(const char*& text) const {
  const Number number = read_padded_number(text);
  if (number.end == nullptr || !ends_word(*number.end)) {
    fail(text, fmt::format("expected a number after the colon, found {}", in_quotes(word_at(text))));
  }
  if (!std::isfinite(number.value)) {
    fail(text, fmt::format("expected a number of at most 1.8e308, found {}", in_quotes(word_at(text))));
  }
  text = number.end;
  return number.value;
}

void LibsvmParser::fail(const char* place, const std::string& what) const {
  fail_in_column(file_, line_, place - line_start_ + 1, "", what);
}

// Array by array, each given back before the next is copied, so that it is never in memory twice.
SparseMatrix<double> LibsvmParser::make_matrix(Index first_index, Index columns) {
  SparseMatrix<double> matrix(static_cast<Index>(row_starts_.size()) - 1, columns);
  std::copy(row_starts_.begin(), row_starts_.end(), matrix.outerIndexPtr());
  row_starts_ = {};
  matrix.resizeNonZeros(static_cast<Index>(values_.size()));
  std::transform(indices_.begin(), indices_.end(), matrix.innerIndexPtr(),
                 [&](std::int32_t index) { return index - static_cast<std::int32_t>(first_index); });
  indices_ = {};
  std::copy(values_.begin(), values_.end(), matrix.valuePtr());
  values_ = {};
  return matrix;
}

Table LibsvmParser::finish() && {
  if (row_starts_.size() == 1) fail_in_file(file_, "the file is empty: expected a table");
  const Index first = first_index_.value_or(has_zero_ ? 0 : 1);
  const Index columns = std::max(fewest_columns_, largest_index_ + (has_zero_ || largest_index_ > 0 ? 1 - first : 0));
  if (columns == 0) fail_in_file(file_, "no line has a feature (index:value)");
  Table table;
  table.features = make_matrix(first, columns);
  if (!first_index_ && has_zero_) table.remarks.push_back(fmt::format("{}: indices start at 0, not at 1", file_));
  table.target = Eigen::Map<const Vector<double>>(target_.data(), static_cast<Index>(target_.size()));
  table.feature_names.reserve(static_cast<std::size_t>(columns));
  for (Index i = first; i < first + columns; ++i) table.feature_names.push_back(fmt::format("x{}", i));
  table.has_names = false;
  if (has_target_) table.target_name = "target";
  return table;
}

}  // namespace

bool looks_like_libsvm(std::string_view first_block) {
  constexpr int kLinesLookedAt = 50;
  const char* text = first_block.data();
  const char* end = text + first_block.size();
  for (int line = 0; line < kLinesLookedAt && text != end; ++line) {
    text = skip_blanks(text);
    const std::string_view first = word_at(text);
    const std::string_view second = word_at(skip_blanks(first.data() + first.size()));
    if (starts_pair(first) && read_number(first.data() + first.find(':') + 1).end == first.data() + first.size()) {
      return true;
    }
    if (!first.empty() && !second.empty()) {
      const Number label = read_number(first.data());
      const bool is_number = label.end == first.data() + first.size();
      return (is_number && second.find(':') != std::string_view::npos) || starts_pair(second);
    }
    text = std::find(text, end, '\n') + 1;
  }
  return false;
}

Table read_libsvm(std::string_view first_block, LineBlocks& rest, const std::string& file, const ReadOptions& options) {
  LibsvmParser parser(file, options);
  for (std::string_view block = first_block; !block.empty(); block = rest.next()) parser.parse(block);
  return std::move(parser).finish();
}

}  // namespace lipschitzlr::data
