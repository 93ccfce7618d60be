#include "data/table/part_state.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace lipschitzlr::data {
namespace {

using nlohmann::json;

json to_json(const RawCells::State& cells) {
  return {static_cast<int>(cells.kind),
          cells.has_numbers,
          cells.has_gaps,
          cells.countless,
          cells.first_line,
          cells.first_text};
}

RawCells::State cells_from(const json& list) {
  return {list[0].get<ColumnKind>(), list[1].get<bool>(),         list[2].get<bool>(),
          list[3].get<bool>(),       list[4].get<std::int64_t>(), list[5].get<std::string>()};
}

json to_json(const TargetColumn::State& target) {
  return {static_cast<int>(target.kind),
          target.has_rows,
          target.has_fraction,
          target.has_identifier,
          target.has_word,
          target.texts,
          target.numbers};
}

TargetColumn::State target_from(const json& list) {
  return {list[0].get<TargetColumn::Kind>(),
          list[1].get<bool>(),
          list[2].get<bool>(),
          list[3].get<bool>(),
          list[4].get<bool>(),
          list[5].get<std::vector<std::string>>(),
          list[6].get<std::vector<double>>()};
}

}  // namespace

std::vector<Index> PartState::places_of(const PartState& part) const {
  std::vector<Index> places;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto found = names.empty() ? part.names.begin() : std::find(part.names.begin(), part.names.end(), names[i]);
    const bool is_there = names.empty() || found != part.names.end();
    places.push_back(!is_there ? -1 : names.empty() ? static_cast<Index>(i) : found - part.names.begin());
  }
  return places;
}

bool PartState::can_go_on_with(const PartState& part) const {
  if (!part.names.empty() && part.names.size() != names.size()) return !part.has_rows;
  // Below a blank line, or where the header has not come yet.
  if (part.begins_within && part.has_row_in_first_file && (place.first_line == 0 || place.blank_line != 0))
    return false;
  if (part.cells.size() != cells.size()) return !part.has_rows;
  const std::vector<Index> places = places_of(part);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (places[i] < 0 || !can_follow(cells[i], part.cells[static_cast<std::size_t>(places[i])])) return false;
  }
  return target.can_go_on_with(part.target);
}

void PartState::go_on_with(const PartState& part) {
  std::int64_t above = 0;  // lines of the same file
  if (!part.begins_within || !part.ends_in_first_file) {
    place = part.place;
  } else {
    above = place.line;
    place.line += part.place.line;
    if (part.place.blank_line != 0 && (part.has_row_in_first_file || place.blank_line == 0)) {
      place.blank_line = above + part.place.blank_line;
    }
  }
  has_rows |= part.has_rows;
  if (!part.has_rows) return;
  const std::vector<Index> places = places_of(part);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_first = cells[i].first_line == 0;
    cells[i] = joined(cells[i], part.cells[static_cast<std::size_t>(places[i])]);
    if (is_first && cells[i].first_line != 0) cells[i].first_line += above;
  }
  target.go_on_with(part.target);
}

std::string PartState::text() const {
  json columns = json::array();
  for (const RawCells::State& column : cells) columns.push_back(to_json(column));
  return json{place.line, place.first_line, place.blank_line, begins_within, ends_in_first_file, has_row_in_first_file,
              has_rows,   columns,          to_json(target),  names}
      .dump();
}

PartState PartState::from(const std::string& text) {
  const json list = parse_json(text, "");
  const auto line = [&](std::size_t i) { return list[i].get<std::int64_t>(); };
  const auto flag = [&](std::size_t i) { return list[i].get<bool>(); };
  PartState state{
      {line(0), line(1), line(2)}, flag(3), flag(4), flag(5), flag(6), list[9].get<std::vector<std::string>>(), {},
      target_from(list[8])};
  for (const json& column : list[7]) state.cells.push_back(cells_from(column));
  return state;
}

}  // namespace lipschitzlr::data
