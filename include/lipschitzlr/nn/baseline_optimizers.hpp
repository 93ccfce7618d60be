#pragma once
// Any optimizer of the registry at a rate set by hand, for any libtorch training loop: the ones that the paper compares
// with (AMSGrad, AdaDelta, AdaShift, WNGrad, WN-Adam, AdaBound, AMSBound), those that promise to need no rate (Prodigy,
// D-Adaptation, DoG, Schedule-Free, MoMo-Adam, calibrated NadamW), and the others without their computed rate.
//
//   auto optimizer = make_baseline("adashift", model->parameters(), {.rate = 0.01, .settings = {{"delay", 5}}});
//   each step:  optimizer->zero_grad();  loss.backward();  optimizer->step();      MoMo: step(loss.item<double>())

#include "lipschitzlr/nn/optimizer.hpp"

namespace lipschitzlr::nn {

struct BaselineOptions {
  std::optional<double> rate = {};  // default_rate(name) when not given
  rate::Schedule schedule = rate::Schedule::constant;
  std::uint64_t schedule_steps = 0;  // warm-up included
  std::uint64_t warmup_steps = 0;
  double weight_decay = 0;
  OptimizerSettings settings = {};  // those left out have the defaults of the paper
};

// Throws Error (usage) when there is no such optimizer or setting, or a number is out of range.
std::unique_ptr<Optimizer> make_baseline(const std::string& name, Optimizer::Groups groups,
                                         const BaselineOptions& options = {});
std::unique_ptr<Optimizer> make_baseline(const std::string& name, std::vector<at::Tensor> parameters,
                                         const BaselineOptions& options = {});

}  // namespace lipschitzlr::nn
