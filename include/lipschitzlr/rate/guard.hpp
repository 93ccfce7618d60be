#pragma once
// Watching the start of a training: random initial weights can make K_z and max ||w|| so large in the first two epochs
// that the computed rate means nothing (paper, section 9), and a first-epoch rate is called for.

#include <string>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::rate {

// sqrt(rows width): ||A||_F of a batch whose penultimate activations have mean square one.
double expected_penultimate_norm(Index rows, Index width);

struct StartGuardOptions {
  double expected_penultimate_norm = 0;  // 0: unknown, then only later epochs tell
  double expected_weight_norm = 0;       // the same for max ||w||
  double factor = 10;                    // what "large" means; > 1
};

class StartGuard {
 public:
  explicit StartGuard(const StartGuardOptions& options = {});  // throws Error (usage)

  // Call once per epoch, counting from 1. The answer is a warning, or empty: in epochs 1 and 2 when a number passes
  // factor times the expected one, in epoch 2 when it grew by the factor, in epoch 3 when it fell by the factor since.
  std::string observe(int epoch, double penultimate_norm, double weight_norm);

 private:
  struct Watch {
    std::string symbol;
    double expected;
    double largest = 0;  // over the first two epochs
    std::string observe(int epoch, double value, double factor);
  };
  double factor_;
  Watch penultimate_;
  Watch weight_;
};

// Throws Error (training) with symbol and value unless the value is finite and above zero.
void check_constant(const std::string& rule, const std::string& symbol, double value);

}  // namespace lipschitzlr::rate
