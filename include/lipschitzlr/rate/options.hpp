#pragma once
// The options of all rate rules; each rule reads those that concern it.

#include <optional>

namespace lipschitzlr::rate {

// How often the caller feeds a rule. It decides only when the first-epoch rate ends: with the first observation, or
// with the first call of end_epoch().
enum class Update { per_epoch, per_iteration };

struct RuleOptions {
  std::optional<double> rate = std::nullopt;  // constant: the rate; > 0
  Update update = Update::per_epoch;  // per_epoch: how the paper's tables were made; per_iteration: its algorithms
  double beta = 0.9;                  // AdaMo, RMSprop: weight of the past in K; in [0, 1)
  double beta1 = 0.9;                 // Auto-Adam: the same for K1
  double beta2 = 0.999;               // Auto-Adam: the same for K2
  double epsilon = 1e-7;              // RMSprop, Auto-Adam: added to sqrt(K), the optimizer's own; Keras: 1e-7
  bool bias_correction = false;       // divide each K by 1 - beta^t, t counting its updates; set it when the optimizer
                                      // divides its averages likewise
  double decay = 0;                   // rate_at(t) = rate() / (1 + decay t), as Keras's "decay"; >= 0
  // The rate of the first epoch; > 0. AdaMo also starts K there.
  std::optional<double> first_rate = std::nullopt;
  // Keep the rate of the first observation for the whole run. Without bias_correction RMSprop and Auto-Adam keep what
  // the first update of their averages gives, sqrt((1 - beta2) S)/((1 - beta1) G), as the authors' code does.
  bool fixed = false;
  bool coded_denominator = false;  // RMSprop: divide by K_z alone, as the authors' code does, instead of G
  // Auto-Adam: K1 and K2 before the first observation, 0 when not given; > 0. The paper's section 10 has 1 and 1e-6.
  // With both there is a rate from the start.
  std::optional<double> initial_k1 = std::nullopt;
  std::optional<double> initial_k2 = std::nullopt;
  bool hold_averages = false;  // Auto-Adam: never move K1, K2 from their initial values (both must be given)
};

// Throws Error (usage) naming the option that makes no sense.
void check(const RuleOptions& options);

}  // namespace lipschitzlr::rate
