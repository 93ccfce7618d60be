#include "lipschitzlr/rate/auto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

constexpr double kUnknownHorizon = 1000;
constexpr double kPast = 0.9;               // weight of the past in F, G, H
constexpr double kStart = 64;               // the first rate is the closed form's divided by this
constexpr std::uint64_t kFirstLosses = 20;  // whose largest the guard compares with
constexpr std::uint64_t kSettled = 5;       // steps before the guard looks at averages
constexpr double kMostGrowth = 3;           // of F over the first losses
constexpr double kVanished = 1e-7;          // share of the largest gradient
constexpr double kFitted = 0.1;             // share of the first losses: a small gradient is then no fault
constexpr std::uint64_t kVanishedSteps = 3;
constexpr std::uint64_t kGuardSteps = 10;  // after calibration the gradient is looked at once in so many steps
constexpr std::uint64_t kMostRollbacks = 12;
constexpr double kRounding = 1e-5;  // of a gradient in single precision
constexpr double kFarStart = 5;     // times the loss of the best constant prediction
constexpr double kNotYet = 1.2;     // times that loss: the outputs depend on the inputs, but in a wrong way still
constexpr double kLearnt = 0.98;    // share of that loss: a mean below it is no accident of a batch

double mixed(double old, double value) { return kPast * old + (1 - kPast) * value; }

// An estimate without a denominator is none: 0.
double quotient(double loss, double constant) {
  const double ratio = constant > 0 ? loss / constant : 0;
  return std::isfinite(ratio) ? ratio : 0;
}

double measured(double loss, double gradient) { return quotient(loss, std::sqrt(std::numbers::pi / 2) * gradient); }

bool is_finite(double loss, const std::optional<AutoNorms>& norms) {
  return std::isfinite(loss) &&
         (!norms || (std::isfinite(norms->gradient) && std::isfinite(norms->head_constant.value_or(0))));
}

}  // namespace

Auto::Auto(const AutoOptions& options) : options_(options), calibrated_at_(calibration_steps()) {
  if (options_.weight_tensors == 0) throw Error(Fault::usage, "there is no weight tensor to train");
}

double Auto::horizon() const {
  return options_.total_steps == 0 ? kUnknownHorizon : static_cast<double>(options_.total_steps);
}

double Auto::calibration_steps() const {
  return std::max(std::min(0.1 * horizon(), 100.0), std::min(25.0, horizon() / 2));
}

bool Auto::calibrates(std::uint64_t step) const {
  return static_cast<double>(step) <= calibrated_at_ || averages_.estimates == 0;
}

bool Auto::wants_norms() const { return calibrates(now_ + 1) || (now_ + 1) % kGuardSteps == 0; }

AutoDecision Auto::observe(double loss, const std::optional<AutoNorms>& norms) {
  if (options_.total_steps != 0 && now_ >= options_.total_steps) {
    throw Error(Fault::usage, fmt::format("all {} steps that total_steps announced are done, and the rate is 0; "
                                          "announce more of them, or none",
                                          options_.total_steps));
  }
  if (loss < 0) {
    throw Error(Fault::usage, fmt::format("the loss is {}, and the automatic rate needs one that is never negative; "
                                          "subtract its lower bound",
                                          loss));
  }
  if (wants_norms() && !norms) throw Error(Fault::usage, "the norms of the gradient are wanted in this step");
  if (now_ == 0) kept_ = {averages_};
  ++now_;
  const bool finite = is_finite(loss, norms);
  if (finite) {
    average(loss, norms);
    grow(loss, norms);
  }
  if (const std::string seen = fault(loss, norms); !seen.empty()) {
    if (options_.parts.guard && numbers_.rollbacks < kMostRollbacks) return go_back(finite, seen);
    if (!finite) {
      throw Error(Fault::training, fmt::format("{} at step {}, after {} rollbacks; look at the inputs: are they "
                                               "finite and scaled?",
                                               seen, now_, numbers_.rollbacks));
    }
  }
  const bool falls = options_.total_steps != 0 && options_.parts.decay;
  const double left = falls ? 1 - static_cast<double>(now_) / horizon() : 1;
  numbers_.rate = averages_.base * left;
  const auto distance = static_cast<std::uint64_t>(std::max(10.0, std::floor(horizon() / 40)));
  const bool keep = averages_.count % distance == 0;
  if (keep) {
    if (kept_.size() == 2) kept_.erase(kept_.begin());
    kept_.push_back(averages_);
    kept_.back().step = now_;
  }
  return {.rate = numbers_.rate, .keep = keep, .reason = {}};
}

void Auto::average(double loss, const std::optional<AutoNorms>& norms) {
  Averages& of = averages_;
  const bool first = of.count++ == 0;
  of.loss = first ? loss : mixed(of.loss, loss);
  if (first_loss_ == 0) first_loss_ = loss;
  if (of.count <= kFirstLosses) largest_first_loss_ = std::max(largest_first_loss_, loss);
  numbers_.loss = of.loss;
  if (!norms) return;
  if (calibrates(now_)) {
    of.gradient = first ? norms->gradient : mixed(of.gradient, norms->gradient);
    if (norms->head_constant) of.head = first ? *norms->head_constant : mixed(of.head, *norms->head_constant);
    numbers_.gradient = of.gradient;
    numbers_.head = of.head;
  }
  if (norms->head_constant) check_head(*norms);
  largest_gradient_ = std::max(largest_gradient_, of.gradient);
  const bool vanished = norms->matrices <= kVanished * largest_gradient_ && of.loss > kFitted * largest_first_loss_;
  vanished_ = vanished ? vanished_ + 1 : 0;
}

void Auto::check_head(const AutoNorms& norms) {
  ++numbers_.head_checks;
  if (norms.head_gradient > *norms.head_constant * (1 + kRounding)) ++numbers_.head_excesses;
  if (*norms.head_constant > 0) {
    numbers_.largest_head_ratio = std::max(numbers_.largest_head_ratio, norms.head_gradient / *norms.head_constant);
  }
}

void Auto::grow(double loss, const std::optional<AutoNorms>& norms) {
  Averages& of = averages_;
  const auto tensors = static_cast<double>(options_.weight_tensors);
  double estimate = 0;
  if (calibrates(now_)) {
    numbers_.measured_rate = measured(of.loss, of.gradient);
    numbers_.closed_form_rate = quotient(of.loss, tensors * of.head);
    estimate = std::max(options_.parts.measured ? numbers_.measured_rate : 0, numbers_.closed_form_rate);
    if (estimate == 0) return;  // nothing to learn from this step
    ++of.estimates;
    of.mean_log += (std::log(estimate) - of.mean_log) / static_cast<double>(of.estimates);
    if (of.base == 0) {
      const double head = quotient(loss, tensors * norms->head_constant.value_or(0));
      of.base = (head > 0 ? head : measured(loss, norms->gradient)) / kStart;
    }
  } else {
    estimate = std::exp(of.mean_log);
  }
  const double growth = std::min(1.3, std::max(1.1, std::pow(100, 20 / horizon())));
  of.base = options_.parts.ramp ? std::min(cap_ * estimate, growth * of.base) : cap_ * estimate;
}

// What the guard sees; empty: nothing.
std::string Auto::fault(double loss, const std::optional<AutoNorms>& norms) const {
  if (!std::isfinite(loss)) return fmt::format("the loss is {}", loss);
  if (!is_finite(loss, norms)) return "the gradient is not finite";
  if (averages_.count <= kSettled) return {};
  if (averages_.loss > kMostGrowth * largest_first_loss_) {
    return fmt::format("the mean loss is {:.4g}, more than {} times the largest of the first {}, {:.4g}",
                       averages_.loss, kMostGrowth, kFirstLosses, largest_first_loss_);
  }
  if (vanished_ >= kVanishedSteps) return "the gradient of the weights has vanished";
  return {};
}

AutoDecision Auto::go_back(bool finite, const std::string& fault) {
  const bool vanished = finite && averages_.count > kSettled && vanished_ >= kVanishedSteps;
  const bool early = !finite && static_cast<double>(averages_.count) < 0.2 * horizon();
  const bool to_start = vanished || early;
  averages_ = to_start ? Averages{} : kept_.front();
  const std::uint64_t from = averages_.step;
  if (to_start) calibrated_at_ = static_cast<double>(now_) + calibration_steps();
  cap_ /= 2;
  averages_.base /= 2;
  vanished_ = 0;
  ++numbers_.rollbacks;
  numbers_.rate = 0;
  kept_ = {averages_};
  const std::string where = from == 0 ? "the start" : fmt::format("step {}", from);
  return {.weights = to_start ? AutoDecision::Weights::to_start : AutoDecision::Weights::to_snapshot,
          .reason = fmt::format("step {}: {}; the weights go back to {}, and the rate is at most {:g} of its estimate",
                                now_, fault, where, cap_)};
}

std::string Auto::introduction() const {
  const double loss = averages_.loss, tensors = static_cast<double>(options_.weight_tensors);
  std::string text = fmt::format(
      "The loss begins at f0 = {:.4g} and changes by at most L_inf = |grad f|_1 = {:.4g} per unit of step, "
      "so that a rate of f0 / (sqrt(pi/2) L_inf) = {:.3g} would bring it to 0 at its fastest. ",
      loss, averages_.gradient, numbers_.measured_rate);
  text +=
      averages_.head > 0
          ? fmt::format(
                "The head's constant in closed form is {:.4g}; over {} weight tensors, and with a margin "
                "of {:g}, the first rate is {:.3g}. ",
                averages_.head, tensors, kStart, loss / (kStart * tensors * averages_.head))
          : fmt::format("With a margin of {:g} the first rate is {:.3g}. ", kStart, numbers_.measured_rate / kStart);
  text += fmt::format("It grows towards the larger estimate, which is frozen after {:.0f} steps, ", calibrated_at_);
  return text + (options_.total_steps == 0 ? std::string("and stays there.")
                                           : fmt::format("and falls linearly to 0 at step {}.", options_.total_steps));
}

std::string Auto::certificate() const {
  if (numbers_.head_checks == 0) return {};
  const std::string steps = fmt::format("{} measured steps", numbers_.head_checks);
  if (numbers_.head_excesses > 0) {
    return fmt::format("the head's gradient exceeded its constant in {} of {}: this is a bug, please report it",
                       numbers_.head_excesses, steps);
  }
  return fmt::format("the head's gradient never exceeded its constant in {}; it came to {:.3g} of it at most", steps,
                     numbers_.largest_head_ratio);
}

std::string Auto::shortfall(double reached, double constant) const {
  if (reached < constant) return {};
  std::string text =
      fmt::format("the loss, {:.4g}, is not below {:.4g}, that of the best constant prediction: ", reached, constant);
  if (first_loss_ > kFarStart * constant) {
    text += fmt::format(
        "it began at {:.4g}, because the outputs of the start are far too large, and {} steps have not "
        "brought it down; scale the inputs to deviation 1, make the start smaller, or train longer",
        first_loss_, now_);
  } else if (largest_first_loss_ > kFarStart * constant) {
    text += fmt::format(
        "it rose from {:.4g} to {:.4g} in the first steps, because from so small a start the loss hardly "
        "depends on the weights, and the rate was too large; scale the inputs to deviation 1, or make the "
        "start larger",
        first_loss_, largest_first_loss_);
  } else if (averages_.loss < kLearnt * constant) {
    text += fmt::format(
        "in training it is {:.4g}, so that what was learnt holds for these examples only; take more "
        "of them, fewer weights, or a penalty",
        averages_.loss);
  } else if (averages_.loss > kNotYet * constant) {
    text += fmt::format("in training it is {:.4g} after {} steps; train longer, or scale the inputs to deviation 1",
                        averages_.loss, now_);
  } else {
    text += fmt::format(
        "in training it is {:.4g} too, as if the outputs did not depend on the inputs{}; scale the "
        "inputs to deviation 1, make the start larger, and see whether the targets depend on them",
        averages_.loss,
        numbers_.rollbacks > 0 ? fmt::format(" (the weights went back {} times)", numbers_.rollbacks) : std::string());
  }
  return text;
}

}  // namespace lipschitzlr::rate
