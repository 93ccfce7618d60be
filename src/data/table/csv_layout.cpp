#include "data/table/csv_layout.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "data/table/csv_cell.hpp"
#include "data/table/date.hpp"
#include "data/table/number.hpp"
#include "data/table/read_error.hpp"
#include "data/table/target_choice.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using Cells = std::vector<std::string>;

struct FirstLine {
  std::string_view text;  // with its '\n'
  std::int64_t number;
};

// The first two lines that are not blank.
std::vector<FirstLine> find_first_lines(std::string_view block) {
  std::vector<FirstLine> lines;
  for (std::int64_t number = 1; !block.empty() && lines.size() < 2; ++number) {
    const std::string_view line = block.substr(0, block.find('\n') + 1);
    if (find_blank_line_end(line.data(), ' ') == nullptr) lines.push_back({line, number});
    block.remove_prefix(line.size());
  }
  return lines;
}

std::size_t count_unquoted(std::string_view line, char delimiter) {
  bool in_quotes = false;
  std::size_t count = 0;
  for (char c : line) {
    if (c == '"') in_quotes = !in_quotes;
    count += c == delimiter && !in_quotes;
  }
  return count;
}

std::size_t count_words(std::string_view line) {
  std::size_t count = 0;
  for (const char* text = line.data(); find_blank_line_end(text, ' ') == nullptr; ++count) {
    text = skip_blanks(text, ' ');
    while (*text != ' ' && *text != '\t' && *text != '\n') ++text;
  }
  return count;
}

// The rarer a character is inside cells, the stronger a sign it is: a tab or a semicolon that two lines have equally
// often beats a comma, which may be the decimal point. Tabs here and blanks there are blanks.
char find_delimiter(const std::vector<FirstLine>& lines, Format format) {
  constexpr std::array<char, 3> kCandidates = {'\t', ';', ','};
  if (format == Format::tsv) return '\t';
  char most_frequent = ' ';
  std::size_t most = 0;
  for (char candidate : kCandidates) {
    const std::size_t count = count_unquoted(lines.front().text, candidate);
    if (count > 0 && count_unquoted(lines.back().text, candidate) == count) return candidate;
    if (count > most) {
      most = count;
      most_frequent = candidate;
    }
  }
  const bool is_mixed = most_frequent == '\t' && count_words(lines.front().text) == count_words(lines.back().text);
  return is_mixed ? ' ' : most_frequent;
}

Cells split(const FirstLine& line, char delimiter, const std::string& file) {
  Cells cells;
  const char* text = line.text.data();
  do {
    Cell cell = read_cell(text, delimiter);
    if (cell.end == nullptr) {
      fail_in_column(file, line.number, static_cast<Index>(cells.size()) + 1, "",
                     "the quotes of this cell don't match: close them on the same line, and double a quote inside");
    }
    cells.push_back(std::move(cell.text));
    text = cell.end + 1;
  } while (text[-1] != '\n');
  return cells;
}

bool is_number(const std::string& cell) {
  const Number number = read_number(cell.c_str());
  return number.end == cell.c_str() + cell.size();
}

// A cell of a first line that can only be a name. A missing value is none: it is more likely data with a gap.
bool is_name(const std::string& cell) {
  return !is_number(cell) && !is_missing_word(cell) && !is_non_finite_word(cell);
}

// A first line is a header when a cell of a feature is a name, unless texts may be data: then a number stands below the
// name, or the line has no number. A name in the target's column alone may be a class label of a table without header;
// then the second line decides.
bool guess_header(const Cells& first, const Cells& second, Index target, bool raw) {
  bool has_name = false, has_number = false, has_name_above_number = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (static_cast<Index>(i) == target) continue;
    has_name |= is_name(first[i]);
    has_number |= is_number(first[i]) || date_from(first[i]).has_value();
    has_name_above_number |= is_name(first[i]) && i < second.size() && is_number(second[i]);
  }
  if (has_name && (!raw || has_name_above_number || !has_number)) return true;
  const auto position = static_cast<std::size_t>(target);
  return target >= 0 && is_name(first[position]) && position < second.size() && is_number(second[position]);
}

// Years, or the numbers that a program gave the columns: a header that a table without header may start with, too.
bool counts_up(const Cells& cells) {
  if (cells.size() < 3) return false;
  const double first = read_number(cells[0].c_str()).value;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!is_number(cells[i]) || read_number(cells[i].c_str()).value != first + static_cast<double>(i)) return false;
  }
  return true;
}

void check_encoding(const Cells& names, const FirstLine& line, const std::string& file) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_utf8(names[i])) continue;
    fail_in_column(file, line.number, static_cast<Index>(i) + 1, "",
                   fmt::format("expected a name in UTF-8 (save the file as UTF-8), found {}", in_quotes(names[i])));
  }
}

// Rows to predict are matched to a model by these names.
void check_features_differ(const CsvLayout& layout, const FirstLine& line, const std::string& file) {
  std::unordered_map<std::string_view, Index> seen;
  for (Index column = 0; column < layout.columns(); ++column) {
    const std::string& name = layout.names[static_cast<std::size_t>(column)];
    if (name.empty() || column == layout.target || layout.plans[static_cast<std::size_t>(column)].skipped) continue;
    const auto [first, is_new] = seen.try_emplace(name, column);
    if (is_new) continue;
    fail_in_line(file, line.number,
                 fmt::format("columns {} and {} are both named {}: give each feature a name of its own",
                             first->second + 1, column + 1, in_quotes(name)));
  }
}

}  // namespace

CsvLayout find_layout(std::string_view first_block, const std::string& file, const ReadOptions& options) {
  const std::vector<FirstLine> lines = find_first_lines(first_block);
  if (lines.empty()) fail_in_file(file, "the file is empty: expected a table");
  const std::size_t carriage_return = lines[0].text.find('\r');
  if (carriage_return < lines[0].text.size() - 2) {
    fail_in_line(file, lines[0].number, "lines end in a bare carriage return: save the file with newlines");
  }
  if (options.format == Format::tsv && options.separator.value_or('\t') != '\t') {
    throw Error(Fault::usage, fmt::format("{}: a TSV has tabs between its cells: leave out --sep or --format", file));
  }
  CsvLayout layout;
  layout.delimiter = options.separator.value_or(find_delimiter(lines, options.format));
  Cells first = split(lines[0], layout.delimiter, file);
  const Cells second = lines.size() > 1 ? split(lines[1], layout.delimiter, file) : Cells{};
  const TargetChoice choice(options, first, file);
  layout.has_header =
      options.header.value_or(choice.needs_header() || guess_header(first, second, choice.by_position(), options.raw));
  if (layout.has_header) check_encoding(first, lines[0], file);
  if (!options.header && !layout.has_header && counts_up(first) && !counts_up(second)) {
    layout.remark = fmt::format(
        "{}: line {} counts up from {} and is read as a row; say --header if it names the "
        "columns, --no-header if not",
        file, lines[0].number, first[0]);
  }
  layout.target = choice.find(layout.has_header);
  layout.names = layout.has_header ? std::move(first) : Cells(first.size());
  layout.plans = plan_columns(layout.names, layout.has_header, layout.target, options, file);
  check_features_differ(layout, lines[0], file);
  return layout;
}

}  // namespace lipschitzlr::data
