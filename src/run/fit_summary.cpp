#include "run/fit_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/linear/coefficients.hpp"
#include "run/option_json.hpp"

namespace lipschitzlr::run {

using nlohmann::json;

std::map<std::string, double> figures_of(const linear::Metrics& metrics, linear::Family family) {
  std::map<std::string, double> figures = {{"loss", metrics.loss}, {"best_constant_loss", metrics.constant_loss}};
  if (family == linear::Family::linear) {
    figures.insert({{"rmse", metrics.rmse}, {"mae", metrics.mae}, {"r2", metrics.r2}});
  } else {
    figures.insert({{"accuracy", metrics.accuracy}, {"majority_accuracy", metrics.majority_accuracy}});
  }
  return figures;
}

std::string to_text(const json& object) { return object.dump(1, ' ', false, json::error_handler_t::replace); }

namespace {

json to_json(const linear::Metrics& metrics, linear::Family family) {
  json object = figures_of(metrics, family);
  object["rows"] = metrics.rows;
  return object;
}

bool is_converged(linear::Stop stop) {
  using linear::Stop;
  return stop == Stop::gradient_tolerance || stop == Stop::relative_tolerance || stop == Stop::loss_threshold ||
         stop == Stop::certified || stop == Stop::patience;
}

// Tells whether two runs have seen the same numbers (FNV-1a, eight bytes at a time). Processes go on from one another's
// in order of rank, so that it does not depend on their number.
class Fingerprint {
 public:
  explicit Fingerprint(Communicator* communicator) : communicator_(communicator) {}

  // The numbers of all processes, one part behind the other.
  template <class Number>
  void add(const Number* numbers, Index count) {
    in_turn([&] { go_on(numbers, count); });
  }
  void add(const DenseMatrix<double>& matrix) { add(data::view_of(matrix)); }
  void add(const DenseView<double>& matrix) { add(matrix.data(), matrix.size()); }
  void add(const StreamedRows<double>& rows) {
    in_turn([&] { rows.for_each_block([this](Index, const auto& block) { go_on(block.data(), block.size()); }); });
  }
  void add(const SparseMatrix<double>& matrix) {
    add(matrix.valuePtr(), matrix.nonZeros());
    add(matrix.innerIndexPtr(), matrix.nonZeros());
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  template <class Number>
  void go_on(const Number* numbers, Index count) {
    const char* bytes = reinterpret_cast<const char*>(numbers);
    for (std::size_t left = static_cast<std::size_t>(count) * sizeof(Number); left > 0;) {
      if (filled_ == 0 && left >= sizeof(word_)) {
        std::memcpy(&word_, bytes, sizeof(word_));
        bytes += sizeof(word_), left -= sizeof(word_);
        end_word();
        continue;
      }
      const std::size_t taken = std::min(sizeof(word_) - filled_, left);
      std::memcpy(reinterpret_cast<char*>(&word_) + filled_, bytes, taken);
      bytes += taken, left -= taken, filled_ += taken;
      if (filled_ == sizeof(word_)) end_word();
    }
  }

  void end_word() {
    hash_ = (hash_ ^ word_) * 0x100000001b3;
    hash_ ^= hash_ >> 32;
    word_ = filled_ = 0;
  }

  template <class Work>
  void in_turn(const Work& work) {
    const auto half = [](std::uint64_t number, int shift) {
      return static_cast<double>((number >> shift) & 0xffffffff);
    };
    const auto whole = [](double low, double high) {
      return static_cast<std::uint64_t>(low) | (static_cast<std::uint64_t>(high) << 32);
    };
    std::array<double, 5> state{half(hash_, 0), half(hash_, 32), 0, 0, 0};
    const auto take = [&] {
      hash_ = whole(state[0], state[1]), word_ = whole(state[2], state[3]),
      filled_ = static_cast<std::size_t>(state[4]);
    };
    lipschitzlr::in_turn(communicator_, state, [&] {
      take();
      work();
      state = {half(hash_, 0), half(hash_, 32), half(word_, 0), half(word_, 32), static_cast<double>(filled_)};
    });
    take();
    if (filled_ > 0) end_word();  // an array is padded with zeros
  }

  Communicator* communicator_;
  std::uint64_t hash_ = 0xcbf29ce484222325, word_ = 0;
  std::size_t filled_ = 0;
};

// Tells whether two penalties are the same, a Gamma from a file among them: by its value where no symmetry hides any
// part of it.
double penalty_at_random(const Prepared& prepared) {
  linear::Weights<double> weights(prepared.scaler.design_columns(), 1);
  Random random(1);
  for (double& weight : weights.reshaped()) weight = random.normal();
  linear::Weights<double> gradient = weights;
  return linear::add_penalty(prepared.setup.penalty, weights, gradient);
}

json unfinished_run(const std::string& path) {
  const linear::Model model = linear::load_model(path);
  if (model.resume.empty()) {
    throw Error(Fault::usage, fmt::format("{}: this training ended by itself; there is nothing to resume", path));
  }
  json resume = json::parse(model.resume);
  const json setting = resume.is_object() ? resume.value("setting", json()) : json();
  if (!setting.is_object() || !setting.value("l2", json()).is_number() || !setting.value("l1", json(0)).is_number() ||
      !resume.contains("state")) {
    throw Error(Fault::data, fmt::format("{}: the state to resume from is damaged; fit again without --resume", path));
  }
  return resume;
}

json path_json(const ChosenPenalty& chosen) {
  const std::vector<linear::PathPoint>& points = chosen.path.points;
  json object = {{"folds", chosen.path.folds},
                 {"l1_share", chosen.l1_share},
                 {"seconds", chosen.seconds},
                 {"best", points[chosen.path.best].lambda},
                 {"one_standard_error", points[chosen.path.sparing].lambda}};
  for (const linear::PathPoint& point : points) {
    object["lambda"].push_back(point.lambda);
    object["loss"].push_back(point.loss);
    object["standard_error"].push_back(point.standard_error);
  }
  return object;
}

// Those with the largest effects, for a chart.
json largest_coefficients(const linear::Model& model) {
  constexpr std::size_t kShown = 20;
  std::vector<linear::Coefficient> all = linear::coefficients(model);
  std::erase_if(all, [](const linear::Coefficient& one) { return one.name.empty() || !one.effect; });
  std::stable_sort(all.begin(), all.end(), [](const linear::Coefficient& a, const linear::Coefficient& b) {
    return std::abs(*a.effect) > std::abs(*b.effect);
  });
  all.resize(std::min(all.size(), kShown));
  json list = json::array();
  for (const linear::Coefficient& one : all) {
    json object = {{"name", one.name}, {"class", one.label}, {"coefficient", one.value}, {"effect", *one.effect}};
    if (one.standard_error) object["standard_error"] = *one.standard_error;
    list.push_back(object);
  }
  return list;
}

}  // namespace

std::string fingerprint(const data::Table& table) {
  Fingerprint print(nullptr);
  std::visit([&](const auto& matrix) { print.add(matrix); }, table.features);
  print.add(table.target.data(), table.target.size());
  return print.text();
}

std::string fingerprint(const Prepared& prepared, Communicator* communicator) {
  Fingerprint print(communicator);
  std::visit([&](const auto& matrix) { print.add(matrix); }, prepared.train.features);
  print.add(prepared.train.target.data(), prepared.train.target.size());
  print.add(prepared.train_weights.data(), prepared.train_weights.size());
  return print.text();
}

double lambda_to_resume(const std::string& path, double l1_share) {
  const json setting = unfinished_run(path)["setting"];
  const json lambda = setting.value("lambda", json());  // as it was: a quotient would be rounded
  if (lambda.is_number()) return lambda.get<double>();
  return l1_share > 0 ? setting.value("l1", 0.0) : setting.value("l2", 0.0);
}

json setting_of(FitRequest options, const Prepared& prepared, Communicator* communicator) {
  options.data.model = prepared.setup.family;
  options.data.scaling = prepared.scaler.kind;
  options.data.weight_bound = prepared.setup.weight_bound;
  options.data.read.target = prepared.train.target_name;
  Options fixed = options_of(options);
  std::erase_if(fixed, [](const Option& option) { return option.is(kMayChange); });
  json setting = to_json(fixed);
  setting.update({{"rows", prepared.train_rows},
                  {"columns", prepared.train.columns()},
                  {"fingerprint", fingerprint(prepared, communicator)}});
  return setting;
}

std::vector<std::string> warnings_of(const FitResult& result) {
  using linear::Stop;
  std::vector<std::string> warnings;
  if (result.stop == Stop::epochs || result.stop == Stop::seconds) {
    warnings.push_back(fmt::format("not converged: the loss was still changing when {}; give more {}",
                                   to_string(result.stop), result.stop == Stop::epochs ? "--epochs" : "--seconds"));
  }
  if (result.stop == Stop::interrupted) warnings.push_back("not converged: interrupted; --resume continues");
  const linear::Metrics& train = result.train;
  const std::string advice = "give more --epochs, another --scale, or features that say more";
  if (result.model.family != linear::Family::linear && train.accuracy <= train.majority_accuracy) {
    warnings.push_back(
        fmt::format("nothing learnt: always answering the most frequent class is right as often, "
                    "{:.2f} %; {}",
                    100 * train.majority_accuracy, advice));
  }
  if (result.model.family == linear::Family::linear && train.loss >= train.constant_loss) {
    warnings.push_back("nothing learnt: always answering the mean of the target is as good; " + advice);
  }
  return warnings;
}

json summary_of(const json& setting, const FitResult& result) {
  const linear::RunChecks& checks = result.checks;
  json summary = {{"setting", setting},
                  {"solver", {{"name", to_string(result.choice.solver)}, {"reason", result.choice.reason}}},
                  {"verdict", result.verdict},
                  {"certified_gap", result.certified_gap},
                  {"condition", result.condition},
                  {"l1", result.l1},
                  {"l2", result.l2},
                  {"weights_not_zero", result.weights_not_zero},
                  {"rate_source", result.rate_source},
                  {"advice", result.advice},
                  {"stop", to_string(result.stop)},
                  {"converged", is_converged(result.stop)},
                  {"remarks", result.remarks},
                  {"warnings", result.warnings},
                  {"epochs", result.last.epoch},
                  {"steps", result.last.step},
                  {"loss", result.last.loss},
                  {"gradient_norm", result.last.gradient_norm},
                  {"rate", result.last.rate},
                  {"seconds", result.seconds},
                  {"train", to_json(result.train, result.model.family)},
                  {"honesty",
                   {{"measurements", checks.measurements},
                    {"steps_that_raised_the_loss", checks.rises},
                    {"claimed_gradient_bound", checks.claimed_bound},
                    {"largest_gradient", checks.largest_gradient},
                    {"bound_exceeded", checks.bound_exceeded},
                    {"descent_promised", checks.descent_promised},
                    {"descent_missed", checks.descent_missed},
                    {"not_finite", checks.not_finite}}}};
  if (result.chosen_penalty) summary["penalty_path"] = path_json(*result.chosen_penalty);
  if (const auto& kept = result.kept) {
    summary["early_stopping"] = {{"rows", kept->rows}, {"epoch", kept->epoch}, {"loss", kept->loss}};
  }
  if (result.test) summary["test"] = json::parse(linear::to_json(*result.test));
  summary["coefficients"] = largest_coefficients(result.model);
  for (const double bytes : result.bytes_read) summary["bytes_read"].push_back(static_cast<std::uint64_t>(bytes));
  return summary;
}

json without_curves(json summary) {
  summary.erase("coefficients");
  summary.erase("bytes_read");
  if (summary.contains("test")) {
    for (const char* name : {"roc", "calibration", "confusion", "error_histogram"}) summary["test"].erase(name);
  }
  return summary;
}

std::string state_to_resume(const std::string& path, const json& setting) {
  const json resume = unfinished_run(path);
  for (const auto& [name, value] : setting.items()) {
    if (!resume["setting"].contains(name)) {
      throw Error(Fault::data, fmt::format("{}: an older version of lipschitzlr began this training, without {}: it "
                                           "can't be resumed; fit again without --resume",
                                           path, name));
    }
    const json& before = resume["setting"][name];
    if (before == value || name == "fingerprint" || name == "rows") continue;
    throw Error(Fault::usage,
                fmt::format("--resume {}: that run had {} = {}, this one has {}; ask for the same, or fit anew", path,
                            name, before.dump(), value.dump()));
  }
  if (resume["setting"]["fingerprint"] != setting["fingerprint"]) {
    throw Error(Fault::usage, fmt::format("--resume {}: these are not the rows that it was trained on, or not read in "
                                          "the same way; bring them back, or fit anew",
                                          path));
  }
  return resume["state"].dump();
}

void expect_same_fit(Communicator& communicator, FitRequest options, const Prepared& prepared) {
  // The same files may lie elsewhere on another machine, and each machine has its own number of cores.
  options.data.source = options.data.tikhonov = options.record = "";
  options.resume = options.resume.empty() ? "no" : "yes";
  options.threads = 0;
  options.watch = false;
  require_equal(communicator, "options",
                fmt::format("{} {}", penalty_at_random(prepared), to_text(to_json(options_of(options)))));
}

}  // namespace lipschitzlr::run
