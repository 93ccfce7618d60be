#pragma once
// Runs the rows of a table: for each seed, from the same start, with the paper's baseline rate, 1/L by each protocol of
// the recipe, and for comparison 1/L certified and 1/beta. Iterations are counted as the authors did: the loss of the
// weights before the update is compared with the threshold, so that 2 means that one update sufficed.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/recipe.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::experiment {

// Rates that are there for comparison only get no further than this; slow ones would take hours to say so.
inline constexpr std::int64_t kComparisonIterations = 20000;

struct RunLimits {
  int seeds = 3;
  std::int64_t max_iterations = 500000;
  std::int64_t epochs = 0;  // in place of the recipe's; 0: the recipe's
  double seconds = std::numeric_limits<double>::infinity();
};

// Of a row with epochs: those of the limits, or its own.
std::int64_t epochs_of(const Recipe& recipe, const RunLimits& limits);

// "90s", "30m", "1.5h", or seconds without a letter. Throws Error (usage) for anything else.
double seconds_from(const std::string& text);

// One training with one rate.
struct Run {
  std::string rate_name;  // "baseline", "published", "coded", "certified", "gradient"
  std::uint64_t seed = 0;
  double rate = 0;
  std::int64_t iterations = 0;  // measurements of the loss, as the authors counted; or epochs done
  bool complete = false;        // the threshold was reached, or all epochs were done
  linear::Stop stop = linear::Stop::epochs;
  double loss = 0;      // of the last weights, on the rows trained on
  double accuracy = 0;  // a share, for a recipe that asks for it
};

struct RowResult {
  Recipe recipe;
  std::vector<std::string> absent;  // data sets that are not at hand: nothing was run
  std::vector<Run> runs;            // by seed, then in the order above
  int seeds_done = 0;               // whole ones
  std::int64_t epochs = 0;          // asked for, when the recipe has epochs
  Index rows = 0;                   // trained on
  double zero_loss = 0;             // of weights that are all zero: the loss before anything is learnt (first seed)
  double majority = 0;              // the share of the largest class among the rows judged (first seed)
  Index judged_rows = 0;            // that accuracies are taken on
  bool judged_held_out_rows = false;
  // The loss as a plain script computes it, after as many updates as the paper's count with 1/L implies; not asked for
  // (zero) when our count is near the paper's.
  double naive_loss = 0;
  bool out_of_time = false;  // something above was cut short or not started because the time was up
  bool interrupted = false;  // ... because the user said so

  bool whole() const { return absent.empty() && !out_of_time && !interrupted; }
  std::int64_t finished() const;  // trainings that came to their end
};

// A sentence on what runs now; called often enough to redraw a line.
using Reporter = std::function<void(const std::string&)>;

// Asked at every measurement of the loss; true ends the running training, and the rows after it are not run.
using Interrupt = std::function<bool()>;

// Rows whose data are not at hand, that the time did not suffice for or that an interrupt came before say so and are no
// error.
std::vector<RowResult> run_rows(const std::vector<Recipe>& rows, const RunLimits& limits, ThreadPool& pool,
                                const Reporter& report = {}, const Interrupt& interrupt = {});

// Least, mean and most of some numbers, such as one per seed. count 0: there are none. complete: all trainings behind
// them are.
struct Spread {
  int count = 0;
  double least = 0, mean = 0, most = 0;
  bool complete = true;
  bool diverged = false;  // one of them left the finite numbers
};
Spread spread_of(const std::vector<double>& values);
Spread iterations_of(const RowResult& result, const std::string& rate_name);
Spread accuracy_of(const RowResult& result, const std::string& rate_name);  // in percent
Spread rate_of(const RowResult& result, const std::string& rate_name);

}  // namespace lipschitzlr::experiment
