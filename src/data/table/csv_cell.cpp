#include "data/table/csv_cell.hpp"

namespace lipschitzlr::data {
namespace {

bool is_line_end(const char* text) { return *text == '\n' || (*text == '\r' && text[1] == '\n'); }

Cell read_quoted_cell(const char* text, char delimiter) {
  Cell cell;
  for (const char* p = text + 1; *p != '\n'; ++p) {
    if (*p == '"') {
      if (p[1] != '"') {
        cell.end = find_cell_end(p + 1, delimiter);
        return cell;
      }
      ++p;
    }
    cell.text += *p;
  }
  return cell;
}

}  // namespace

const char* skip_blanks(const char* text, char delimiter) {
  while (*text == ' ' || (*text == '\t' && delimiter != '\t')) ++text;
  return text;
}

const char* find_blank_line_end(const char* text, char delimiter) {
  text = skip_blanks(text, delimiter);
  if (!is_line_end(text)) return nullptr;
  return text + (*text == '\r');
}

const char* skip_to_delimiter(const char* text, char delimiter) {
  const char* next = skip_blanks(text, delimiter);
  if (is_line_end(next)) return next + (*next == '\r');
  if (delimiter == ' ') return next > text ? next - 1 : nullptr;
  return *next == delimiter ? next : nullptr;
}

Cell read_cell(const char* text, char delimiter) {
  text = skip_blanks(text, delimiter);
  if (*text == '"') return read_quoted_cell(text, delimiter);
  const char* end = text;
  while (!is_line_end(end) && !is_delimiter(*end, delimiter)) ++end;
  Cell cell;
  cell.end = find_cell_end(end, delimiter);
  while (end > text && (end[-1] == ' ' || end[-1] == '\t')) --end;
  cell.text.assign(text, end);
  return cell;
}

CellView view_cell(const char* text, char delimiter, std::string& scratch) {
  const char* start = skip_blanks(text, delimiter);
  const char* end = start;
  if (*start == '"') {
    ++start;
    for (++end; *end != '"' && *end != '\n'; ++end) continue;
    if (*end == '"' && end[1] != '"') {
      return {{start, static_cast<std::size_t>(end - start)}, find_cell_end(end + 1, delimiter)};
    }
  } else if (delimiter != ' ') {
    while (*end != delimiter && *end != '\n') ++end;
    const char* last = end;
    if (*end == '\n' && last > start && last[-1] == '\r') --last;
    while (last > start && (last[-1] == ' ' || last[-1] == '\t')) --last;
    return {{start, static_cast<std::size_t>(last - start)}, end};
  }
  Cell cell = read_cell(text, delimiter);
  scratch = std::move(cell.text);
  return {scratch, cell.end};
}

}  // namespace lipschitzlr::data
