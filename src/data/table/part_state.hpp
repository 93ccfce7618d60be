#pragma once
// What of a part of a CSV or of JSON Lines decides how the rows behind it are read, so that processes can read parts at
// once, each as if nothing stood above its own. Where that would have been read otherwise below the parts before it, it
// has to be read again: below their state.

#include <cstdint>
#include <string>
#include <vector>

#include "data/table/part_parser.hpp"
#include "data/table/raw_cells.hpp"
#include "data/table/target_column.hpp"

namespace lipschitzlr::data {

struct PartState {
  // Where a part ends.
  struct Place {
    std::int64_t line = 0, first_line = 0, blank_line = 0;  // of its last file, as in CsvRows
  };

  Place place;
  bool begins_within = false;      // a file, whose lines are counted from 0 then
  bool ends_in_first_file = true;  // of its own
  bool has_row_in_first_file = false;
  bool has_rows = false;
  // Of JSON Lines, where parts may have fields of their own: those of all columns. Empty: parts have the same columns.
  std::vector<std::string> names = {};
  std::vector<RawCells::State> cells;
  TargetColumn::State target;

  bool can_go_on_with(const PartState& part) const;
  void go_on_with(const PartState& part);

  std::string text() const;
  static PartState from(const std::string& text);

 private:
  // The cells of a part by the columns here; -1: it has another column, or not all of these.
  std::vector<Index> places_of(const PartState& part) const;
};

// A parser that may read a part of a table, while other processes read the others.
class PartReading : public PartParser {
 public:
  // What follows begins within the file, or at its start; above: what stands above it, null when that is not known.
  virtual void begin(const std::string& file, bool within, const PartState* above) = 0;
  virtual void expect_lines() const {}  // throws Error (data) when the file that has ended should have some
  virtual PartState state() const = 0;
  virtual void unite(const PartState& all, Communicator& communicator) = 0;  // collective; all: of all processes
};

}  // namespace lipschitzlr::data
