#pragma once
// The choice of a rate by short trials on training examples: the first-epoch rate of AdaMo, as the paper chooses it
// (section 9.3.2), the rate of `--policy grid`, and Auto-Adam's K2 (section 10). Every trial has the same initial
// weights, the same examples in the same order and the whole schedule, and is judged on training examples that no trial
// trains on: neither the validation nor the test examples are used.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/network_data.hpp"

namespace lipschitzlr::run {

enum class Searched { first_rate, rate, k2 };

struct RateTrial {
  double rate = 0;        // or K2
  bool diverged = false;  // the loss became NaN or infinite
  double loss = 0, accuracy = 0;
};

struct RateTrials {
  Searched option = Searched::first_rate;
  std::int64_t epochs = 0;
  Index images = 0, judged_on = 0;  // or rows
  std::vector<RateTrial> tried = {};

  // The most accurate, of equals the one with the least loss, never one that diverged. Throws Error (training) when all
  // did.
  const RateTrial& best() const;
  bool best_is_at_an_end() const;  // of the rates tried: a better one may lie beyond
};

nlohmann::ordered_json to_json(const RateTrials& trials);

// Whether completed options leave a rate to trials.
bool needs_trials(const TrainOptions& completed);
void set_rate(TrainOptions& options, const RateTrials& trials, double rate);

// weights: the file to start from, empty: none.
RateTrials try_rates(const TrainOptions& completed, const NetworkData& data, const std::vector<Index>& training,
                     const std::string& weights, Communicator* communicator,
                     const std::function<void(const std::string&)>& say);

}  // namespace lipschitzlr::run
