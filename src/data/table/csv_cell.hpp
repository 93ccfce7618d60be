#pragma once
// One cell of a line of CSV. The delimiter ' ' stands for any run of blanks and tabs; with the others, blanks around a
// cell do not count. A quoted cell ends on its line: a quote that is never closed must not swallow the rest of the
// file. All texts here need a '\n' behind them.

#include <string>
#include <string_view>

namespace lipschitzlr::data {

struct Cell {
  std::string text;           // without its quotes and the blanks around it
  const char* end = nullptr;  // the delimiter or the '\n' behind it; null when it is badly quoted: a quote is not
                              // closed, or is followed by more than a delimiter
};

Cell read_cell(const char* text, char delimiter);

// The same without a copy where there is nothing to undo; scratch holds the text otherwise.
struct CellView {
  std::string_view text;
  const char* end = nullptr;
};
CellView view_cell(const char* text, char delimiter, std::string& scratch);

inline bool is_delimiter(char c, char delimiter) { return c == delimiter || (delimiter == ' ' && c == '\t'); }

// The first character that is not blank.
const char* skip_blanks(const char* text, char delimiter);

// Where the line ends, if nothing but blanks stands before; else null.
const char* find_blank_line_end(const char* text, char delimiter);

const char* skip_to_delimiter(const char* text, char delimiter);

// The delimiter or '\n' behind a cell whose own characters end at text; null when something else follows.
inline const char* find_cell_end(const char* text, char delimiter) {
  if (*text == '\n' || (*text == delimiter && delimiter != ' ')) return text;
  return skip_to_delimiter(text, delimiter);
}

}  // namespace lipschitzlr::data
