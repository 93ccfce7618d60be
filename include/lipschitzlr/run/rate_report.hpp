#pragma once
// Every constant of a prepared problem, what a short trial with each gives, the iteration bound of 1/beta and the
// advice that follows: the answer of `lipschitzlr rate`.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/bound/constant.hpp"
#include "lipschitzlr/run/prepare.hpp"

namespace lipschitzlr::run {

struct RateOptions {
  DataOptions data;
  double gradient_reduction = 1000;  // the iteration bound is for |gradient| this many times smaller than at the start
  unsigned threads = 0;
};

struct ReportedConstant {
  bound::Constant constant;
  double trial_loss;  // after trial_steps full steps from zero; infinite when the trial diverged
};

// The constant of the gradient as a matrix B (bound/matrix.hpp), whose step is w - B^-1 g.
struct ReportedMatrix {
  std::string formula;
  Index size = 0, rank = 0;
  double condition = 0;  // of B with its columns scaled to a diagonal of 1; infinite when singular
  double trial_loss = 0;
  double promised = 0;  // g'B^-1 g / 2: the least by which the first step from zero lowers the loss
};

inline constexpr Index kLargestMatrix = 3000;  // columns: more take more than a few seconds

struct RateReport {
  std::vector<ReportedConstant> constants;  // published, coded, certified, gradient, as far as there are
  std::optional<ReportedMatrix> matrix;     // none with more than kLargestMatrix columns
  std::vector<bound::Input> inputs;         // of all of them, each symbol once
  int trial_steps;
  double start_loss, start_gradient_norm;  // at zero
  double promised;                         // by which the first step of 1/beta from zero lowers the loss at least
  double loss_floor;                       // proven: f* is not below; 0 where there is nothing better
  double epsilon;                          // the squared gradient norm the bound is for
  double iterations = 0;                   // n >= 2 beta (f(0) - loss_floor) / epsilon; 0 when zero is the optimum
  std::string advised;                     // the constant's name
  double advised_rate;
  std::string reason;
};

Options options_of(RateOptions& options);

RateReport report_rates(const Prepared& prepared, const RateOptions& options);

}  // namespace lipschitzlr::run
