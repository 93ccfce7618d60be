#include "run/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/linear/model.hpp"

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

std::string to_text(const json& object) { return object.dump(1, ' ', false, json::error_handler_t::replace); }

namespace {

// Tells whether two runs have seen the same numbers (FNV-1a, eight bytes at a time).
class Fingerprint {
 public:
  template <class Number>
  void add(const Number* numbers, Index count) {
    const auto size = static_cast<std::size_t>(count) * sizeof(Number);
    const char* bytes = reinterpret_cast<const char*>(numbers);
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min(sizeof(word), size - i));
      hash_ = (hash_ ^ word) * 0x100000001b3;
      hash_ ^= hash_ >> 32;
    }
  }
  void add(const DenseMatrix<double>& matrix) { add(matrix.data(), matrix.size()); }
  void add(const SparseMatrix<double>& matrix) {
    add(matrix.valuePtr(), matrix.nonZeros());
    add(matrix.innerIndexPtr(), matrix.nonZeros());
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

std::string fingerprint(const data::Table& table) {
  Fingerprint print;
  std::visit([&](const auto& matrix) { print.add(matrix); }, table.features);
  print.add(table.target.data(), table.target.size());
  return print.text();
}

// Tells whether two penalties are the same, a Gamma from a file among them: by its value where no symmetry hides any
// part of it.
double penalty_at_random(const Prepared& prepared) {
  linear::Weights<double> weights(prepared.scaler.design_columns(), 1);
  Random random(1);
  for (double& weight : weights.reshaped()) weight = random.normal();
  linear::Weights<double> gradient = weights;
  return linear::add_penalty(prepared.setup.penalty, weights, gradient);
}

}  // namespace

json setting_of(const DataChoice& data, const Prepared& prepared, const TrainingChoice& choice,
                const linear::SolverOptions& options) {
  const rate::RuleOptions& rule = options.rule;
  const json nothing;
  return {{"data", data.source},
          {"rows", prepared.train.rows()},
          {"columns", prepared.train.columns()},
          {"target", prepared.train.target_name},
          {"fingerprint", fingerprint(prepared.train)},
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
          {"coded_denominator", rule.coded_denominator},
          {"k1", rule.initial_k1 ? json(*rule.initial_k1) : nothing},
          {"k2", rule.initial_k2 ? json(*rule.initial_k2) : nothing},
          {"hold_averages", rule.hold_averages},
          {"fixed", rule.fixed}};
}

json account_of(const json& setting, const TrainingResult& result) {
  const linear::RunChecks& checks = result.checks;
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
                   {{"measurements", checks.measurements},
                    {"steps_that_raised_the_loss", checks.rises},
                    {"claimed_gradient_bound", checks.claimed_bound},
                    {"largest_gradient", checks.largest_gradient},
                    {"bound_exceeded", checks.bound_exceeded},
                    {"descent_promised", checks.descent_promised},
                    {"descent_missed", checks.descent_missed},
                    {"not_finite", checks.not_finite}}}};
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

std::string resume_text(const std::string& path, const json& setting) {
  const linear::Model model = linear::load_model(path);
  if (model.resume.empty()) {
    throw Error(Fault::usage, fmt::format("{}: this training ended by itself; there is nothing to resume", path));
  }
  const json resume = json::parse(model.resume);
  if (!resume.is_object() || !resume.value("setting", json()).is_object() || !resume.contains("state")) {
    throw Error(Fault::data, fmt::format("{}: the state to resume from is damaged; fit again without --resume", path));
  }
  check_same_setting(resume["setting"], setting, path);
  return resume["state"].dump();
}

void expect_same_training(Communicator& communicator, const DataChoice& data, const Prepared& prepared,
                          const TrainingChoice& choice) {
  const linear::SolverOptions& options = choice.options;
  json asked = setting_of(data, prepared, choice, options);
  require_equal(communicator, "data", asked["fingerprint"].get<std::string>(), Fault::data);
  // The same file may lie elsewhere on another machine.
  asked.erase("data");
  asked.erase("tikhonov");
  asked.update({{"penalty", penalty_at_random(prepared)},
                {"rate", choice.rate},
                {"resume", !choice.resume.empty()},
                {"epochs", options.epochs},
                {"loss", fmt::format("{}", options.loss_threshold)},
                {"gradient_tolerance", options.gradient_tolerance},
                {"tolerance", options.relative_tolerance},
                {"seconds", fmt::format("{}", options.seconds)}});
  require_equal(communicator, "options", to_text(asked));
}

}  // namespace lipschitzlr::run
