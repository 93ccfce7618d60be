#pragma once
// Runs rows on linear models: for each seed, from the same start, with the paper's baseline rate, 1/L by each protocol
// of the recipe, and for comparison 1/L certified and 1/beta. Iterations are counted as the authors did: the loss of
// the weights before the update is compared with the threshold, so that 2 means that one update sufficed.

#include <vector>

#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/experiment/limits.hpp"
#include "lipschitzlr/experiment/row.hpp"

namespace lipschitzlr::experiment {

// Rates that are there for comparison only get no further than this; slow ones would take hours to say so.
inline constexpr std::int64_t kComparisonIterations = 20000;

// Rows whose data are not available, that the time did not suffice for or that an interrupt came before say so and are
// no error. The reporter is called often enough to redraw a line.
std::vector<Row> run_rows(const std::vector<Recipe>& rows, const Limits& limits, ThreadPool& pool,
                          const Reporter& report = {}, const Interrupt& interrupt = {});

}  // namespace lipschitzlr::experiment
