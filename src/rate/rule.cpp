#include "lipschitzlr/rate/rule.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "rate/saved.hpp"

namespace lipschitzlr::rate {

Rule::Rule(RuleOptions options) : options_(std::move(options)) { check(options_); }

void Rule::observe(const Measurement& measurement) {
  check_measurement(measurement);
  if (options_.update == Update::per_epoch) first_epoch_over_ = true;
  if (options_.fixed && observations_ > 0) return;
  update(measurement);
  ++observations_;
}

void Rule::end_epoch() {
  if (options_.update == Update::per_iteration) first_epoch_over_ = true;
}

bool Rule::holds_first_rate() const { return options_.first_rate.has_value() && !first_epoch_over_; }

bool Rule::has_rate() const { return holds_first_rate() || observations_ > 0 || rate_without_observation(); }

double Rule::rate() const {
  if (holds_first_rate()) return *options_.first_rate;
  if (!has_rate()) {
    throw Error(Fault::usage, fmt::format("the rule {} has no rate before its first observation; give it a first rate "
                                          "or observe first",
                                          name()));
  }
  const double rate = computed_rate();
  if (std::isfinite(rate) && rate > 0) return rate;
  std::string sentence = fmt::format("the rule {} gives the rate {}", name(), rate);
  const char* joint = " from ";
  for (const auto& [symbol, value] : numbers()) {
    sentence += fmt::format("{}{} = {}", joint, symbol, value);
    joint = ", ";
  }
  throw Error(Fault::training, sentence + "; look for inputs or weights that vanished or exploded");
}

double Rule::rate_at(std::uint64_t step) const { return rate() / (1 + options_.decay * static_cast<double>(step)); }

double Rule::bias_divisor(double beta) const {
  if (!options_.bias_correction || observations_ == 0) return 1;
  return 1 - std::pow(past(beta), static_cast<double>(observations_));
}

std::string Rule::save() const {
  Saved saved{name(), options_, observations_, first_epoch_over_, {}};
  for (const auto& [symbol, value] : numbers()) saved.numbers.push_back({symbol, value});
  return to_json(saved);
}

void Rule::load(const std::string& text) {
  const Saved saved = saved_from_json(text);
  if (saved.rule != name()) {
    throw Error(Fault::data,
                fmt::format("the saved state is of the rule {}, but this is the rule {}", saved.rule, name()));
  }
  std::vector<double> values;
  for (const auto& entry : numbers()) {
    for (const auto& [symbol, value] : saved.numbers) {
      if (symbol == entry.first) values.push_back(value);
    }
  }
  if (values.size() != numbers().size() || values.size() != saved.numbers.size()) {
    throw Error(Fault::data, fmt::format("the saved state of the rule {} is damaged: its numbers do not fit", name()));
  }
  set_numbers(values);
  options_ = saved.options;
  observations_ = saved.observations;
  first_epoch_over_ = saved.first_epoch_over;
}

}  // namespace lipschitzlr::rate
