#include "run/account.hpp"

namespace lipschitzlr::run {

using nlohmann::json;

std::string to_json(const linear::Metrics& metrics, linear::Family family) {
  json object = {{"rows", metrics.rows}, {"loss", metrics.loss}, {"best_constant_loss", metrics.constant_loss}};
  if (family == linear::Family::linear) {
    object.update({{"rmse", metrics.rmse}, {"mae", metrics.mae}, {"r2", metrics.r2}});
  } else {
    object.update({{"accuracy", metrics.accuracy}, {"majority_accuracy", metrics.majority_accuracy}});
  }
  return object.dump();
}

json setting_of(const DataChoice& data, const Prepared& prepared, const TrainingChoice& choice,
                const linear::SolverOptions& options) {
  const rate::RuleOptions& rule = options.rule;
  const json nothing;
  return {{"data", data.source},
          {"rows", prepared.train.rows()},
          {"columns", prepared.train.columns()},
          {"model", to_string(prepared.setup.family)},
          {"scale", data::to_string(prepared.scaler.kind)},
          {"intercept", data.intercept},
          {"holdout", data.holdout},
          {"l2", data.l2},
          {"tikhonov", data.tikhonov},
          {"weight_bound", prepared.setup.weight_bound},
          {"solver", choice.solver},
          {"rate", options.rate ? json(*options.rate) : json(to_string(options.constant))},
          {"recompute", to_string(options.recompute)},
          {"batch", options.batch},
          {"start", choice.random_start ? "normal" : "zero"},
          {"seed", options.seed},
          {"precision", choice.single_precision ? "single" : "double"},
          {"first_rate", rule.first_rate ? json(*rule.first_rate) : nothing},
          {"decay", rule.decay},
          {"bias_correction", rule.bias_correction},
          {"beta", rule.beta},
          {"beta1", rule.beta1},
          {"beta2", rule.beta2},
          {"epsilon", rule.epsilon},
          {"second_moment", to_string(options.second_moment)},
          {"fixed", rule.fixed}};
}

json account_of(const json& setting, const TrainingResult& result) {
  const linear::Honesty& honesty = result.honesty;
  json account = {{"setting", setting},
                  {"rate_source", result.rate_source},
                  {"advice", result.advice},
                  {"stop", to_string(result.stop)},
                  {"epochs", result.last.epoch},
                  {"steps", result.last.step},
                  {"loss", result.last.loss},
                  {"gradient_norm", result.last.gradient_norm},
                  {"rate", result.last.rate},
                  {"seconds", result.last.seconds},
                  {"train", json::parse(to_json(result.train, result.model.family))},
                  {"honesty",
                   {{"measurements", honesty.measurements},
                    {"steps_that_raised_the_loss", honesty.rises},
                    {"claimed_gradient_bound", honesty.claimed_bound},
                    {"largest_gradient", honesty.largest_gradient},
                    {"bound_exceeded", honesty.bound_exceeded},
                    {"descent_missed", honesty.descent_missed},
                    {"not_finite", honesty.not_finite}}}};
  if (result.test) account["test"] = json::parse(to_json(*result.test, result.model.family));
  return account;
}

void check_same_setting(const json& before, const json& now, const std::string& path) {
  for (const auto& [name, value] : now.items()) {
    const json old = before.value(name, json());
    if (old != value) {
      throw Error(Fault::usage,
                  fmt::format("--resume {}: that run had {} = {}, this one has {}; ask for the same, or fit anew", path,
                              name, old.dump(), value.dump()));
    }
  }
}

}  // namespace lipschitzlr::run
