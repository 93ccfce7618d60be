#pragma once
// What the first lines of a CSV tell about the rest: delimiter, header, number of columns, and which one is the target.

#include <string>
#include <string_view>
#include <vector>

#include "data/table/column_plan.hpp"

namespace lipschitzlr::data {

struct CsvLayout {
  char delimiter = ',';  // ' ' is any run of blanks
  bool has_header = false;
  std::string remark;              // on a first line that may be a header after all; empty: none
  std::vector<std::string> names;  // the header's cells; without a header as many empty ones
  Index target = -1;               // -1: no column is the target
  std::vector<ColumnPlan> plans;   // one for each column

  Index columns() const { return static_cast<Index>(names.size()); }
};

// From a block of whole lines that holds the first two rows, if there are as many. Throws Error: (data) when this is no
// table, (usage) when the target asked for is not there.
CsvLayout find_layout(std::string_view first_block, const std::string& file, const ReadOptions& options);

}  // namespace lipschitzlr::data
