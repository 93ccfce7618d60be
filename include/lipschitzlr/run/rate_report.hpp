#pragma once
// Every constant of a prepared problem, what a short trial with each gives, the iteration bound of 1/beta and the
// advice that follows: the answer of `lipschitzlr rate`.

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

struct RateReport {
  std::vector<ReportedConstant> constants;  // published, coded, certified, gradient, as far as there are
  std::vector<bound::Input> inputs;         // of all of them, each symbol once
  int trial_steps;
  double start_loss, start_gradient_norm;  // at zero
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
