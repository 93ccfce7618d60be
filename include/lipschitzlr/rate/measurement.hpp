#pragma once
// What a rule is fed, once per epoch or once per iteration: upper estimates of the gradient's size. A rule looks only
// at the numbers it needs; the others may stay 0.

namespace lipschitzlr::rate {

struct Measurement {
  double gradient_bound = 0;    // G = max ||grad L||, a constant of bound/loss.hpp
  double second_moment = 0;     // S = max ||(grad L)^2||, see second_moment.hpp (RMSprop, Auto-Adam)
  double penultimate_norm = 0;  // K_z, the largest ||A||_F (RMSprop as coded)
};

}  // namespace lipschitzlr::rate
