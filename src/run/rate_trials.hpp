#pragma once
// The choice of a rate by short trials on training images: the first-epoch rate of AdaMo, as the paper chooses it
// (section 9.3.2), and the rate of `--policy grid`. Every trial has the same initial weights, the same images in the
// same order and the whole schedule, and is judged on training images that no trial trains on: neither the validation
// nor the test images are used.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lipschitzlr/run/trainer_setup.hpp"

namespace lipschitzlr::run {

struct RateTrial {
  double rate = 0;
  bool diverged = false;  // the loss became NaN or infinite
  double loss = 0, accuracy = 0;
};

struct RateTrials {
  bool grid = false;  // of --policy grid, else of --first-rate search
  std::int64_t epochs = 0;
  Index images = 0, judged_on = 0;
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
RateTrials try_rates(const TrainOptions& completed, const data::ImageSet& images, const std::vector<Index>& training,
                     const std::string& weights, Communicator* communicator,
                     const std::function<void(const std::string&)>& say);

}  // namespace lipschitzlr::run
