#pragma once
// What a reproduction may cost, and where its records are.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/recipe.hpp"

namespace lipschitzlr::experiment {

struct Limits {
  std::optional<int> seeds = {};  // every training from the seeds 1 to this; default: 3, on networks 1
  std::int64_t max_iterations = 500000;
  std::int64_t epochs = 0;  // in place of the recipe's; 0: the recipe's
  double seconds = std::numeric_limits<double>::infinity();
  unsigned threads = 0;  // 0: all cores

  // Of networks:
  std::vector<std::string> protocols = {"coded"};
  std::string records = "reproduction";  // folder of the records
  std::string data = {};                 // images to train on in place of the row's, for a try; empty: the row's
  Index images = 0;                      // train on so many only; 0: all

  int seeds_of(const Recipe& recipe) const { return seeds.value_or(recipe.linear ? 3 : 1); }
  std::int64_t epochs_of(const Recipe& recipe) const;          // 0: the row counts iterations
  bool is_try() const { return !data.empty() || images > 0; }  // has records of its own, and no verdict
};

// "90s", "30m", "1.5h", or seconds without a letter. Throws Error (usage) for anything else.
double seconds_from(const std::string& text);

// A sentence on what runs now.
using Reporter = std::function<void(const std::string&)>;

// Asked often; true ends the running training, and nothing after it is begun.
using Interrupt = std::function<bool()>;

}  // namespace lipschitzlr::experiment
