#pragma once
// What of a part of a CSV decides how the rows behind it are read, so that processes can read parts at once, each as if
// nothing stood above its own. Where that would have been read otherwise below the parts before it, it has to be read
// again: below their state.

#include <cstdint>
#include <string>
#include <vector>

#include "data/table/raw_cells.hpp"
#include "data/table/target_column.hpp"

namespace lipschitzlr::data {

struct CsvState {
  // Where a part ends.
  struct Place {
    std::int64_t line = 0, first_line = 0, blank_line = 0;  // of its last file, as in CsvRows
  };

  Place place;
  bool begins_within = false;      // a file, whose lines are counted from 0 then
  bool ends_in_first_file = true;  // of its own
  bool has_row_in_first_file = false;
  bool has_rows = false;
  std::vector<RawCells::State> cells;
  TargetColumn::State target;

  bool can_go_on_with(const CsvState& part) const;
  void go_on_with(const CsvState& part);

  std::string text() const;
  static CsvState from(const std::string& text);
};

}  // namespace lipschitzlr::data
