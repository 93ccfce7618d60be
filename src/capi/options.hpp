#pragma once
// What a caller of the C interface may set, by name, with the values of the command line.

#include <atomic>
#include <optional>
#include <string>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/linear/cross_validation.hpp"

namespace lipschitzlr::capi {

struct Options {
  std::optional<data::Scaling> scaling;  // by default standard for dense features, none for sparse ones
  bool intercept = true;
  std::optional<double> l2;  // by default by cross-validation, and 0 with l1
  double l1 = 0;
  double l1_share = 0;  // of the penalty that is chosen
  linear::Solver solver = linear::Solver::automatic;
  std::int64_t epochs = 1000;
  std::optional<double> tolerance;
  linear::PathOptions path;  // its seed is that of shuffles too
  unsigned threads = 0;
  std::string note;  // for the model's file
  std::atomic<bool> stop = false;
};

// Throws Error (usage) that says which names, or which values, there are.
void set(Options& options, const std::string& name, const std::string& value);

}  // namespace lipschitzlr::capi
