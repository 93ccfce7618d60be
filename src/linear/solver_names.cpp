#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

std::string to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::gd:
      return "gd";
    case Algorithm::accelerated:
      return "accelerated";
    case Algorithm::sgd:
      return "sgd";
    case Algorithm::adamo:
      return "adamo";
    case Algorithm::rmsprop:
      return "rmsprop";
    case Algorithm::auto_adam:
      return "auto-adam";
  }
  return {};
}

std::string to_string(Recompute recompute) {
  switch (recompute) {
    case Recompute::never:
      return "never";
    case Recompute::epoch:
      return "epoch";
    case Recompute::batch:
      return "batch";
  }
  return {};
}

std::string to_string(Stop stop) {
  switch (stop) {
    case Stop::loss_threshold:
      return "the loss fell below the threshold";
    case Stop::gradient_tolerance:
      return "the gradient is within the tolerance";
    case Stop::relative_tolerance:
      return "the loss has stopped changing";
    case Stop::epochs:
      return "all epochs are done";
    case Stop::seconds:
      return "the time is up";
    case Stop::interrupted:
      return "interrupted";
    case Stop::not_finite:
      return "the loss is no longer finite";
  }
  return {};
}

}  // namespace lipschitzlr::linear
