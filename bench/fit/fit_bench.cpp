// Trains one problem to several tolerances and says how long each took and how low the loss came, a JSON line each:
//   fit_bench FILE L2 THREADS SOLVER TOLERANCE...
// FILE is CSV or LIBSVM, the target last or first. No scaling: the file has the design. From the table in memory to the
// weights: the copy of the design, the choice of the solver and everything it computes is in the time. A design that is
// read more than once is held in memory, however large.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/memory.hpp"
#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/linear/fit.hpp"

using namespace lipschitzlr;

int main(int count, char** words) {
  keep_memory();  // as lipschitzlr does
  if (count < 6) {
    fmt::print(stderr, "usage: fit_bench FILE L2 THREADS SOLVER TOLERANCE...\n");
    return 2;
  }
  try {
    data::Table table = data::read_table(words[1]);
    const linear::Family family = linear::choose_family({}, table);
    linear::FitOptions options;
    options.scaling = data::Scaling::none;
    options.penalty = {.l2 = std::atof(words[2]), .spare_last = true};
    options.weight_bound = linear::kNoWeightBound;  // as linear::fit has it
    ThreadPool pool(static_cast<unsigned>(std::atoi(words[3])));
    linear::SolverOptions solver{.epochs = 100000};
    solver.solver = *std::find_if(std::begin(linear::kSolvers), std::end(linear::kSolvers),
                                  [&](linear::Solver known) { return to_string(known) == words[4]; });
    for (int word = 5; word < count; ++word) {
      solver.gap_tolerance = std::atof(words[word]);
      const auto start = std::chrono::steady_clock::now();
      const linear::Preparation preparation = linear::prepare(table, family, options);
      const bool held = linear::worth_holding(table, preparation, solver.solver) > 0;
      const auto problem = linear::make_problem<double>(table, nullptr, preparation, pool, nullptr, {},
                                                        held ? std::numeric_limits<std::size_t>::max() : 0);
      const auto outcome = linear::solve(*problem, solver, linear::State<double>{});
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      fmt::print("{{\"tolerance\": {}, \"seconds\": {}, \"loss\": {}, \"solver\": \"{}\", \"steps\": {}}}\n",
                 solver.gap_tolerance, seconds, outcome.last.loss, to_string(outcome.choice.solver), outcome.last.step);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.fault());
  }
}
