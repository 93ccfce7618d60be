// Trains a table along a path of L1 penalties, every one from the weights of the one before, and says how long all took
// and which weights each has, in one JSON line:
//   path_bench FILE THREADS TOLERANCE LAMBDA...
// FILE is CSV, the target last. Numbers are solved from X'X, as cross-validation does. No scaling: the file has the
// design. From the table in memory to the last weights.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>

#include "linear/gram_lasso.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/memory.hpp"
#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/linear/fit.hpp"

using namespace lipschitzlr;

int main(int count, char** words) {
  keep_memory();  // as lipschitzlr does
  if (count < 5) {
    fmt::print(stderr, "usage: path_bench FILE THREADS TOLERANCE LAMBDA...\n");
    return 2;
  }
  try {
    data::Table table = data::read_table(words[1]);
    const linear::Family family = linear::choose_family({}, table);
    linear::FitOptions options;
    options.scaling = data::Scaling::none;
    options.penalty.spare_last = true;
    options.weight_bound = linear::kNoWeightBound;
    ThreadPool pool(static_cast<unsigned>(std::atoi(words[2])));
    const linear::SolverOptions solver{.epochs = 100000, .gap_tolerance = std::atof(words[3])};
    const auto start = std::chrono::steady_clock::now();
    const auto problem = linear::make_problem<double>(table, linear::prepare(table, family, options), pool);
    std::optional<linear::GramLasso> lasso = linear::gram_lasso(*problem);
    std::vector<linear::Weights<double>> path;
    for (int word = 4; word < count; ++word) {
      problem->set_penalty(linear::with_elastic_net(options.penalty, std::atof(words[word]), 1));
      if (lasso) {
        path.push_back(lasso->solve(problem->setup().penalty.l1, 0, solver.gap_tolerance));
        continue;
      }
      linear::State<double> state;
      if (!path.empty()) state.weights = path.back();
      path.push_back(linear::solve(*problem, solver, std::move(state)).state.weights);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::vector<std::string> all;
    for (const auto& weights : path) all.push_back(fmt::format("[{}]", fmt::join(weights.reshaped(), ", ")));
    fmt::print("{{\"seconds\": {}, \"weights\": [{}]}}\n", seconds, fmt::join(all, ", "));
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.fault());
  }
}
