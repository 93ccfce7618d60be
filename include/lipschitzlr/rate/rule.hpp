#pragma once
// A rate rule: feed it constants, read the learning rate. It knows no framework, no model and no data. Its whole state
// goes through save() and load(), so that a resumed training continues with the same bits.
//
//   auto rule = make_rule("adamo", {.first_rate = 0.1});
//   each epoch:  each step t:  optimizer uses rule->rate_at(t)
//                rule->observe({.gradient_bound = G});
//                rule->end_epoch();

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lipschitzlr/rate/measurement.hpp"
#include "lipschitzlr/rate/options.hpp"

namespace lipschitzlr::rate {

class Rule {
 public:
  virtual ~Rule() = default;
  virtual std::string name() const = 0;
  virtual bool measures() const { return true; }  // whether its rate depends on what it observes

  // One update of the averages. With the fixed option all but the first are checked and otherwise ignored. Throws Error
  // (training), and changes nothing, when a number the rule needs is not finite or not above zero.
  void observe(const Measurement& measurement);

  // Ends the first-epoch rate of a rule that is fed per iteration; does nothing else, and nothing twice.
  void end_epoch();

  bool has_rate() const;  // whether rate() would answer: there is a first rate, an observation or given averages
  bool holds_first_rate() const;  // whether rate() is the option first_rate

  // The undecayed rate now. Throws Error (usage) when has_rate() is false, Error (training) with the numbers when the
  // averages give no finite rate above zero.
  double rate() const;

  // rate() / (1 + decay step), step counting mini-batch steps from 0.
  double rate_at(std::uint64_t step) const;

  std::uint64_t observations() const { return observations_; }  // updates that moved the averages
  const RuleOptions& options() const { return options_; }

  // Named numbers of the state, for logs: {"K", 0.7}.
  using Numbers = std::vector<std::pair<std::string, double>>;
  virtual Numbers numbers() const = 0;

  // JSON with rule, version, options and state. load() takes all of it over; on text that is damaged, of another rule
  // or of a newer version it throws Error (data) and changes nothing.
  std::string save() const;
  void load(const std::string& text);

 protected:
  explicit Rule(RuleOptions options);

  virtual void check_measurement(const Measurement& measurement) const = 0;
  virtual void update(const Measurement& measurement) = 0;  // move the averages
  virtual double computed_rate() const = 0;                 // from the averages
  virtual bool rate_without_observation() const { return false; }
  virtual void set_numbers(const std::vector<double>& values) = 0;  // in the order of numbers()

  // The weight of the past in an average. The one observation of a fixed rule stands for itself where averages are
  // corrected for their start; where they are not, the first average is kept as it is, as in the authors' code.
  double past(double beta) const { return options_.fixed && options_.bias_correction ? 0 : beta; }
  // 1 - past^t when bias correction is on, else 1.
  double bias_divisor(double beta) const;

 private:
  RuleOptions options_;
  std::uint64_t observations_ = 0;
  bool first_epoch_over_ = false;
};

}  // namespace lipschitzlr::rate
