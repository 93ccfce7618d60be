#include "rate/saved.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "lipschitzlr rate rule";
constexpr std::int64_t kVersion = 1;

// Visits each option once with its name, so that writing and reading can't disagree.
template <class Options, class Visitor>
void for_each_option(Options& options, Visitor&& visit) {
  visit("beta", options.beta);
  visit("beta1", options.beta1);
  visit("beta2", options.beta2);
  visit("epsilon", options.epsilon);
  visit("bias_correction", options.bias_correction);
  visit("decay", options.decay);
  visit("first_rate", options.first_rate);
  visit("fixed", options.fixed);
  visit("coded_denominator", options.coded_denominator);
  visit("initial_k1", options.initial_k1);
  visit("initial_k2", options.initial_k2);
  visit("hold_averages", options.hold_averages);
}

struct Writer {
  Json& json;
  template <class T>
  void operator()(const char* name, const T& value) const {
    json[name] = value;
  }
  void operator()(const char* name, const std::optional<double>& value) const {
    json[name] = value ? Json(*value) : Json();
  }
};

// A plain get<bool>() or get<double>() would take a bool for a number.
double number(const Json& json) {
  if (!json.is_number()) throw Error(Fault::data, fmt::format("{} is not a number", json.dump()));
  return json.get<double>();
}

struct Reader {
  const Json& json;
  void operator()(const char* name, double& value) const { value = number(json.at(name)); }
  void operator()(const char* name, bool& value) const { value = json.at(name).get<bool>(); }
  void operator()(const char* name, std::optional<double>& value) const {
    value.reset();
    if (!json.at(name).is_null()) value = number(json.at(name));
  }
};

Update update_from(const std::string& name) {
  if (name == "epoch") return Update::per_epoch;
  if (name == "iteration") return Update::per_iteration;
  throw Error(Fault::data, fmt::format("there is no update '{}'", name));
}

Saved read(const Json& json) {
  if (json.at("format").get<std::string>() != kFormat) throw Error(Fault::data, "it is of another kind");
  const Json& version = json.at("version");
  if (!version.is_number_integer() || version.get<std::int64_t>() < 1) throw Error(Fault::data, "it has no version");
  if (version.get<std::int64_t>() > kVersion) {
    throw Error(Fault::data, fmt::format("it has version {} and this program reads up to {}; use a newer program",
                                         version.get<std::int64_t>(), kVersion));
  }
  Saved saved;
  saved.rule = json.at("rule").get<std::string>();
  const Json& options = json.at("options");
  saved.options.update = update_from(options.at("update").get<std::string>());
  for_each_option(saved.options, Reader{options});
  if (options.contains("rate")) saved.options.rate = number(options["rate"]);  // not in older files
  if (saved.rule == "constant" && !saved.options.rate) throw Error(Fault::data, "it has no rate");
  check(saved.options);
  const Json& state = json.at("state");
  if (!state.at("observations").is_number_unsigned()) throw Error(Fault::data, "its count of observations is not one");
  saved.observations = state.at("observations").get<std::uint64_t>();
  saved.first_epoch_over = state.at("first_epoch_over").get<bool>();
  for (const auto& [symbol, value] : state.at("numbers").items()) {
    saved.numbers.emplace_back(symbol, number(value));
    if (!(std::isfinite(saved.numbers.back().second) && saved.numbers.back().second >= 0)) {
      throw Error(Fault::data, fmt::format("its {} is {}", symbol, saved.numbers.back().second));
    }
  }
  return saved;
}

}  // namespace

std::string to_json(const Saved& saved) {
  Json options;
  options["update"] = saved.options.update == Update::per_epoch ? "epoch" : "iteration";
  for_each_option(saved.options, Writer{options});
  if (saved.options.rate) options["rate"] = *saved.options.rate;
  Json numbers = Json::object();
  for (const auto& [symbol, value] : saved.numbers) numbers[symbol] = value;
  const Json json = {
      {"format", kFormat},
      {"version", kVersion},
      {"rule", saved.rule},
      {"options", options},
      {"state",
       {{"observations", saved.observations}, {"first_epoch_over", saved.first_epoch_over}, {"numbers", numbers}}}};
  return json.dump();
}

Saved saved_from_json(const std::string& text) {
  const auto fail = [](const char* reason) {
    throw Error(Fault::data, fmt::format("the saved state of the rate rule can't be used: {}", reason));
  };
  Saved saved;
  try {
    saved = read(parse_json(text, ""));
  } catch (const Error& error) {
    fail(error.what());
  } catch (const Json::exception&) {
    fail("it is damaged (not the JSON that save() wrote)");
  }
  return saved;
}

}  // namespace lipschitzlr::rate
