#pragma once
// The choice of a rate by short trials on training images: the first-epoch rate of AdaMo, as the paper chooses it
// (section 9.3.2), and the rate of `--policy grid`. Every trial has the same start, the same images and the same order
// of them, goes through the whole schedule, and is judged on training images that none of them sees: neither the
// validation nor the test images have a part in it.

#include <functional>
#include <string>
#include <vector>

#include "lipschitzlr/run/network_choice.hpp"

namespace lipschitzlr::run {

struct RateTrial {
  double rate = 0;
  bool diverged = false;  // the loss was no longer a finite number
  double loss = 0, accuracy = 0;
};

struct RateTrials {
  std::string option;  // which rate: "first_rate" or "rate"
  std::int64_t epochs = 0;
  Index images = 0, judged_on = 0;
  std::vector<RateTrial> tried;

  // The most accurate, of equals the one with the least loss, never one that diverged. Throws Error (training) when all
  // did.
  const RateTrial& best() const;
  bool best_is_at_an_end() const;  // of the rates tried: a better one may lie beyond
};

std::string to_json(const RateTrials& trials);

// The rates of --grid, or of the usual grid when the text is empty: 0.0001, 0.0003, 0.001, ... 1. Throws Error (usage).
std::vector<double> grid_rates(const std::string& text);

// What the choice asks for: --first-rate search or --policy grid. weights: the file to start from, empty: none.
RateTrials try_rates(const NetworkChoice& completed_choice, const data::ImageSet& images,
                     const std::vector<Index>& training, const std::string& weights, Communicator* communicator,
                     const std::function<void(const std::string&)>& say);

}  // namespace lipschitzlr::run
