#pragma once
// Everything that a report is made of, found under the paths a user names: a folder that is a record, a folder of such
// folders at any depth, a file that `reproduce --json` wrote, and beside them the speeds that `reproduce` measured.
// What is named and is none of these is kept as a missing or damaged record, so that the page can say so.

#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_runner.hpp"
#include "lipschitzlr/report/run_record.hpp"
#include "lipschitzlr/report/table_record.hpp"

namespace lipschitzlr::report {

struct Collection {
  std::vector<RunRecord> runs;      // in the order of the paths, then of their names; none twice
  std::vector<TableRecord> tables;  // the same; of a row in several files, the last counts
  std::vector<experiment::NetworkSpeed> speeds;
};

Collection collect(const std::vector<std::string>& paths);

}  // namespace lipschitzlr::report
