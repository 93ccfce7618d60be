// The state of the automatic rate as JSON, and back.

#include <cmath>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/rate/auto.hpp"

namespace lipschitzlr::rate {
namespace {

using Json = nlohmann::json;

constexpr const char* kAutoFormat = "lipschitzlr automatic rate 1";

// Each visits the fields once with their names, so that writing and reading can't disagree.
template <class Averages, class Visitor>
void visit_averages(Averages& of, const Visitor& visit) {
  visit("step", of.step);
  visit("count", of.count);
  visit("loss", of.loss);
  visit("gradient", of.gradient);
  visit("head", of.head);
  visit("base", of.base);
  visit("estimates", of.estimates);
  visit("mean_log", of.mean_log);
}

template <class Numbers, class Visitor>
void visit_numbers(Numbers& of, const Visitor& visit) {
  visit("loss", of.loss);
  visit("gradient", of.gradient);
  visit("head", of.head);
  visit("measured_rate", of.measured_rate);
  visit("closed_form_rate", of.closed_form_rate);
  visit("rate", of.rate);
  visit("rollbacks", of.rollbacks);
  visit("head_checks", of.head_checks);
  visit("head_excesses", of.head_excesses);
  visit("largest_head_ratio", of.largest_head_ratio);
}

struct FieldWriter {
  Json& json;
  template <class T>
  void operator()(const char* name, const T& value) const {
    json[name] = value;
  }
};

[[noreturn]] void refuse_auto_state() {
  throw Error(Fault::data, "the saved state of the automatic rate can't be used: it is damaged");
}

struct FieldReader {
  const Json& json;
  void operator()(const char* name, double& value) const {
    const Json& saved = json.at(name);
    if (!saved.is_number() || !std::isfinite(saved.get<double>())) refuse_auto_state();
    value = saved.get<double>();
    if (value < 0 && std::string_view(name) != "mean_log") refuse_auto_state();
  }
  void operator()(const char* name, std::uint64_t& value) const {
    if (!json.at(name).is_number_unsigned()) refuse_auto_state();
    value = json.at(name).get<std::uint64_t>();
  }
};

Json averages_json(const Auto::Averages& averages) {
  Json json;
  visit_averages(averages, FieldWriter{json});
  return json;
}

Auto::Averages averages_from(const Json& json) {
  Auto::Averages averages;
  visit_averages(averages, FieldReader{json});
  return averages;
}

}  // namespace

template <class Self, class Visitor>
void Auto::visit_state(Self& self, const Visitor& visit) {
  visit("steps", self.now_);
  visit("calibrated_at", self.calibrated_at_);
  visit("cap", self.cap_);
  visit("first_loss", self.first_loss_);
  visit("largest_first_loss", self.largest_first_loss_);
  visit("largest_gradient", self.largest_gradient_);
  visit("vanished", self.vanished_);
}

std::string Auto::save() const {
  Json json = {{"format", kAutoFormat}, {"averages", averages_json(averages_)}, {"kept", Json::array()}};
  for (const Averages& kept : kept_) json["kept"].push_back(averages_json(kept));
  visit_numbers(numbers_, FieldWriter{json["numbers"]});
  visit_state(*this, FieldWriter{json});
  return json.dump();
}

void Auto::load(const std::string& text) try {
  const Json json = parse_json(text, "the saved state of the automatic rate");
  if (json.at("format") != kAutoFormat) refuse_auto_state();
  Auto read(options_);
  read.averages_ = averages_from(json.at("averages"));
  for (const Json& kept : json.at("kept")) read.kept_.push_back(averages_from(kept));
  visit_numbers(read.numbers_, FieldReader{json.at("numbers")});
  visit_state(read, FieldReader{json});
  if (read.kept_.size() > 2 || (read.now_ > 0 && read.kept_.empty()) || !(read.cap_ > 0)) refuse_auto_state();
  *this = std::move(read);
} catch (const Json::exception&) {
  refuse_auto_state();
}

}  // namespace lipschitzlr::rate
