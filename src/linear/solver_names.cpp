#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

std::string to_string(Algorithm algorithm) {
  static constexpr const char* kNames[] = {"gd", "accelerated", "sgd", "adamo", "rmsprop", "auto-adam"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::string to_string(Recompute recompute) {
  static constexpr const char* kNames[] = {"never", "epoch", "batch"};
  return kNames[static_cast<std::size_t>(recompute)];
}

std::string to_string(Stop stop) {
  static constexpr const char* kSentences[] = {
      "the loss fell below the threshold",
      "the gradient is within the tolerance",
      "the loss has stopped changing",
      "all epochs are done",
      "the time is up",
      "interrupted",
      "the loss is no longer finite",
      "the loss is proven to be within the tolerance of the optimum",
      "the classes are separable, so without a penalty there is no optimum; add one",
  };
  return kSentences[static_cast<std::size_t>(stop)];
}

}  // namespace lipschitzlr::linear
