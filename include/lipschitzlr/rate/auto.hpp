#pragma once
// The automatic rate of an optimizer whose steps are bounded per weight, as Adam's are. In that geometry the loss f
// changes by at most L_inf = |grad f|_1 per unit of step, and f / L_inf is the step that brings it to 0 at its fastest.
// Two estimates of it are compared: P with the constant measured over all weights, Hb with that of the head in closed
// form, h = sum_i |dz_i|_1 |a_i|_1 (a_i: what the last layer receives for example i, dz_i = df/dz_i: the gradient at
// its output), which the head's gradient never exceeds, times the number D of weight tensors:
//   T steps in all;  W = max(min(T/10, 100), min(25, T/2)) of them calibrate;  c = 1
//   growth = min(1.3, max(1.1, 100^(20/T)))
//   each step:   F, G, H <- 0.9 old + 0.1 (f, |g|_1, h), the values themselves in the first step
//                P = F / (sqrt(pi/2) G),   Hb = F / (D H)
//   first step:  b = f / (64 D h)
//   step <= W:   q = max(P, Hb), and the mean of ln q is taken;   later: q = exp(that mean)
//   b <- min(c q, growth b);   rate = b (1 - step/T)
// When T is not known, W, growth and the distance of snapshots are those of T = 1000, and rate = b.
// The guard sends the weights back when f or |g|_1 is not finite, when F > 3 max(first 20 losses) and when the gradient
// of the weight tensors has vanished (at most 1e-7 of the largest G, three times in a row, while F is above a tenth of
// that maximum); then c and b are halved. It does so 12 times at most.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lipschitzlr::rate {

// Parts of the rule that an ablation study leaves out, to measure what each is worth.
struct AutoParts {
  bool ramp = true;      // the small start; without it b = c q from the first step on
  bool measured = true;  // P; without it q = Hb
  bool decay = true;     // the fall to 0; without it rate = b
  bool guard = true;     // without it a loss that is not finite is an error at once
};

struct AutoOptions {
  std::uint64_t total_steps = 0;     // T; 0: not known
  std::uint64_t weight_tensors = 1;  // D: those of two dimensions or more
  AutoParts parts = {};
};

// The 1-norms of a step's gradient, where wants_norms() asks for them.
struct AutoNorms {
  double gradient = 0;                       // |g|_1 over all parameters
  double matrices = 0;                       // over those of two dimensions or more
  std::optional<double> head_constant = {};  // h; none: there is no head to measure
  double head_gradient = 0;                  // |g|_1 of the head's weights
};

struct AutoDecision {
  enum class Weights { step, to_start, to_snapshot };  // take a step, or put back what was kept and take none

  Weights weights = Weights::step;
  double rate = 0;     // of the step
  bool keep = false;   // keep a snapshot after the step; of those kept only the last two are needed
  std::string reason;  // why the weights go back, to where and what changes: a sentence
};

// For logs.
struct AutoNumbers {
  double loss = 0, gradient = 0, head = 0;         // F, G, H
  double measured_rate = 0, closed_form_rate = 0;  // P, Hb, of the last calibrating step
  double rate = 0;                                 // of the last step
  std::uint64_t rollbacks = 0;
  // Of the steps in which the head was measured: how often its gradient exceeded its constant, and the largest ratio.
  std::uint64_t head_checks = 0, head_excesses = 0;
  double largest_head_ratio = 0;
};

class Auto {
 public:
  explicit Auto(const AutoOptions& options);  // throws Error (usage)

  // Whether the next step's norms are looked at: while it calibrates, and in every tenth step after that.
  bool wants_norms() const;

  // Of each step, before it is taken; the loss is a mean over the batch, and the same scale holds for the gradient. The
  // weights at the first call are the start. After to_start or to_snapshot (the older of those kept, the start before
  // there are two) what is put back is the only snapshot.
  // Throws Error (usage) when norms are left out that are wanted, the loss is negative or total_steps are done; Error
  // (training) when the loss is not finite after 12 rollbacks, or at once without the guard.
  AutoDecision observe(double loss, const std::optional<AutoNorms>& norms);

  const AutoNumbers& numbers() const { return numbers_; }
  std::uint64_t steps() const { return now_; }
  const AutoOptions& options() const { return options_; }
  std::string introduction() const;  // after the first step: what was measured, and what follows from it
  std::string certificate() const;   // of the head; empty when it was never measured
  // Why a training has not become better than the best constant prediction, and what helps: from the loss that it has
  // reached, on validation rows where there are any, and that of the constant. Empty when it is better.
  std::string shortfall(double reached, double constant) const;

  // All state but the options, as JSON. load() continues with the same bits; with another total_steps it goes on from
  // b along the new line to 0. It throws Error (data), and changes nothing, when the text is damaged.
  std::string save() const;
  void load(const std::string& text);

  // What goes back with the weights.
  struct Averages {
    std::uint64_t step = 0;   // of all, when it was kept
    std::uint64_t count = 0;  // t: steps since the start
    double loss = 0, gradient = 0, head = 0;
    double base = 0;  // b; 0: none yet
    std::uint64_t estimates = 0;
    double mean_log = 0;  // of the estimates q
  };

 private:
  double horizon() const;
  double calibration_steps() const;
  bool calibrates(std::uint64_t step) const;
  void average(double loss, const std::optional<AutoNorms>& norms);
  void grow(double loss, const std::optional<AutoNorms>& norms);
  void check_head(const AutoNorms& norms);
  std::string fault(double loss, const std::optional<AutoNorms>& norms) const;
  AutoDecision go_back(bool finite, const std::string& fault);
  template <class Self, class Visitor>
  static void visit_state(Self& self, const Visitor& visit);

  AutoOptions options_;
  AutoNumbers numbers_;
  Averages averages_;
  std::vector<Averages> kept_;  // the older first
  std::uint64_t now_ = 0;       // steps, those of rollbacks too
  double calibrated_at_ = 0;    // the step after which q is frozen
  double cap_ = 1;              // c
  double first_loss_ = 0, largest_first_loss_ = 0, largest_gradient_ = 0;
  std::uint64_t vanished_ = 0;  // in so many measured steps in a row
};

}  // namespace lipschitzlr::rate
