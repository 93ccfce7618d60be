#pragma once
// One row of any table with what was measured for it: its recipe and its trainings. Figures (spreads over the seeds)
// and the verdict (experiment/verdict.hpp) are computed from them when asked, and never stored.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/recipe.hpp"
#include "lipschitzlr/linear/solver.hpp"
#include "lipschitzlr/run/record.hpp"

namespace lipschitzlr::experiment {

// One training of a row.
struct Run {
  std::string rate_name;  // "baseline", "published", "coded", "certified", "gradient"; of a network the protocol
  std::uint64_t seed = 0;
  double rate = 0;
  std::int64_t iterations = 0;  // measurements of the loss, as the authors counted; or epochs done
  bool complete = false;        // the threshold was reached, or all epochs were done
  linear::Stop stop = linear::Stop::epochs;
  double loss = 0;           // of the last weights, on the rows trained on
  double accuracy = 0;       // a share, for a recipe that asks for it; of a network the best of its epochs
  double last_accuracy = 0;  // in its last epoch
  // Epoch by epoch, of a linear model that is judged in its best one; the losses are means over the mini-batches.
  std::vector<double> epoch_losses = {}, epoch_accuracies = {};
  const run::Record* record = nullptr;  // of a network
};

struct Row {
  Recipe recipe;
  std::vector<std::string> absent;  // data sets that were not available
  std::vector<Run> runs;  // linear: by seed, then in the order above; networks: by protocol, the longest first

  // Of linear models:
  int seeds = 0;                    // asked for
  std::int64_t max_iterations = 0;  // asked for
  std::int64_t epochs = 0;          // asked for, when the recipe has epochs
  int seeds_done = 0;               // whole ones
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
  std::string file;          // it was read from; empty: it was just measured
  bool damaged = false;      // the file has trainings that can't be read

  // Of networks:
  std::optional<double> hours;  // that all epochs would take here
  std::vector<Row> compared;    // the recipe's rows to compare with, as far as they are on the same network

  bool whole() const { return absent.empty() && !out_of_time && !interrupted && !damaged; }
  std::int64_t finished() const;             // trainings that came to their end
  std::vector<std::string> command() const;  // what measures a row of a linear model again
};

// Whether a record is a training of this row on a network: data, network, optimizer, policy, protocol and decay, on all
// images, without a schedule.
bool is_of(const Recipe& recipe, const std::string& protocol, const run::Record& record);

// What else was chosen otherwise than by the recipe: "first rate 0.001 in place of none", "--beta 0.5". Empty: nothing.
std::vector<std::string> departures(const Recipe& recipe, const std::string& protocol, const run::Record& record);

// A row on a network with those of the records that are trainings of it. The records must outlive the row.
Row network_row(const Recipe& recipe, const std::vector<run::Record>& records);

// The trainings behind a figure. Of a network, those that got as far as the furthest, one per seed, which is where
// seeds can be compared; none without an epoch.
std::vector<const Run*> runs_behind(const Row& row, const std::string& rate_name);

// Least, mean and most of some numbers, such as one per seed. count 0: there are none. complete: all trainings behind
// them are.
struct Spread {
  int count = 0;
  double least = 0, mean = 0, most = 0;
  bool complete = true;
  bool diverged = false;  // one of them became NaN or infinite
};
Spread iterations_of(const Row& row, const std::string& rate_name);
Spread accuracy_of(const Row& row, const std::string& rate_name);       // in percent; of a network the best epoch
Spread last_accuracy_of(const Row& row, const std::string& rate_name);  // of the last epoch
Spread rate_of(const Row& row, const std::string& rate_name);

// The best of a network's accuracies, up to an epoch.
struct Peak {
  std::size_t epoch = 0;  // from 1; 0: there is none
  double share = 0;

  double percent() const { return 100 * share; }
};
inline constexpr std::size_t kAllEpochs = std::numeric_limits<std::size_t>::max();
Peak best_accuracy(const std::vector<double>& shares, std::size_t epochs = kAllEpochs);
Peak best_accuracy(const run::Record& record, std::size_t epochs = kAllEpochs);

}  // namespace lipschitzlr::experiment
