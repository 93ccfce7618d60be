#include "lipschitzlr/experiment/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/experiment/setting.hpp"

namespace lipschitzlr::experiment {
namespace {

using Clock = std::chrono::steady_clock;
using linear::ConstantKind;

struct NamedRate {
  std::string name;
  double rate;
  bool comparison;
};

class RowRunner {
 public:
  RowRunner(const Recipe& recipe, const RunLimits& limits, Clock::time_point end, ThreadPool& pool,
            const Reporter& report, const Interrupt& interrupt)
      : limits_(limits), end_(end), pool_(pool), report_(report), interrupt_(interrupt) {
    result_.recipe = recipe;
    result_.epochs = epochs_of(recipe, limits);
  }

  RowResult run();

 private:
  const Recipe& recipe() const { return result_.recipe; }
  // Whether to end here, noting why.
  bool must_end() {
    result_.interrupted |= interrupt_ && interrupt_();
    result_.out_of_time |= seconds_left() <= 0;
    return result_.interrupted || result_.out_of_time;
  }
  double seconds_left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }
  std::vector<NamedRate> rates(const Setting& setting) const;
  void run_seed(const Setting& setting, std::uint64_t seed, const linear::Weights<double>& start);
  Run run_rate(const Setting& setting, const NamedRate& rate, std::uint64_t seed, const linear::Weights<double>& start,
               double seconds);
  void describe(const Setting& setting);
  void look_for_naive_stop(const Setting& setting, const linear::Weights<double>& start);
  linear::Observer observer(const std::string& rate_name, std::uint64_t seed) const;

  RunLimits limits_;
  Clock::time_point end_;
  ThreadPool& pool_;
  const Reporter& report_;
  const Interrupt& interrupt_;
  RowResult result_;
};

RowResult RowRunner::run() {
  result_.absent = absent_sets(recipe());
  if (!result_.absent.empty()) return result_;
  if (must_end()) return result_;
  if (report_) report_(fmt::format("{}: reading the data", recipe().id()));
  const Source source = load_source(recipe());
  const bool splits = recipe().data.test_fraction > 0;
  std::unique_ptr<Setting> setting;
  for (int seed = 1; seed <= limits_.seeds; ++seed) {
    if (must_end()) break;
    // Without a split only the start depends on the seed: the matrix and its norms stay.
    const auto number = static_cast<std::uint64_t>(seed);
    if (!setting || splits) setting = std::make_unique<Setting>(recipe(), source, number, pool_);
    if (seed == 1) describe(*setting);
    run_seed(*setting, number, draw_start(recipe(), setting->problem(), number));
    if (!result_.interrupted && !result_.out_of_time) ++result_.seeds_done;
  }
  return result_;
}

void RowRunner::describe(const Setting& setting) {
  result_.rows = setting.problem().rows();
  const linear::Weights<double> zero = setting.problem().zero_weights();
  linear::Weights<double> gradient;
  result_.zero_loss = setting.problem().evaluate(zero, gradient);
  const linear::Metrics judged = setting.judge(zero);
  result_.majority = judged.majority_accuracy;
  result_.judged_rows = judged.rows;
  result_.judged_held_out_rows = setting.judges_held_out_rows();
}

std::vector<NamedRate> RowRunner::rates(const Setting& setting) const {
  std::vector<NamedRate> list{{"baseline", recipe().baseline_rate, false}};
  const auto add = [&](ConstantKind kind, bool comparison) {
    list.push_back({to_string(kind), setting.problem().constant(kind).rate(), comparison});
  };
  for (const ConstantKind kind : recipe().protocols) add(kind, false);
  add(ConstantKind::certified, true);
  add(ConstantKind::gradient, true);
  return list;
}

void RowRunner::run_seed(const Setting& setting, std::uint64_t seed, const linear::Weights<double>& start) {
  const std::vector<NamedRate> list = rates(setting);
  std::vector<std::optional<Run>> runs(list.size());
  // The baseline, which comes first and can take a thousand times longer than the others, has what time they leave.
  for (std::size_t left = list.size(); left > 0 && !result_.interrupted; --left) {
    const std::size_t i = (list.size() - left + 1) % list.size();
    const auto same =
        std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run && run->rate == list[i].rate; });
    const double seconds = seconds_left() / static_cast<double>(left);
    runs[i] = same != runs.end() ? **same : run_rate(setting, list[i], seed, start, seconds);
    runs[i]->rate_name = list[i].name;
    result_.out_of_time |= runs[i]->stop == linear::Stop::seconds;
    result_.interrupted |= runs[i]->stop == linear::Stop::interrupted;
  }
  for (const auto& run : runs) {
    if (run) result_.runs.push_back(*run);
  }
  if (seed == 1 && !result_.interrupted) look_for_naive_stop(setting, start);
}

Run RowRunner::run_rate(const Setting& setting, const NamedRate& rate, std::uint64_t seed,
                        const linear::Weights<double>& start, double seconds) {
  linear::SolverOptions options;
  options.algorithm = recipe().training.batch > 0 ? linear::Algorithm::sgd : linear::Algorithm::gd;
  options.rate = rate.rate;
  options.batch = recipe().training.batch;
  options.seed = seed;
  options.seconds = std::max(0.0, seconds);
  if (recipe().counts_iterations()) {
    const std::int64_t most =
        rate.comparison ? std::min(limits_.max_iterations, kComparisonIterations) : limits_.max_iterations;
    options.loss_threshold = *recipe().training.threshold;
    options.epochs = most - 1;  // the first measurement comes before the first update
  } else {
    options.epochs = result_.epochs;
  }
  linear::State<double> state;
  state.weights = start;
  const linear::Outcome<double> outcome =
      linear::solve(setting.problem(), options, std::move(state), observer(rate.name, seed));
  Run run{rate.name, seed, rate.rate, outcome.checks.measurements, false, outcome.stop, outcome.last.loss, 0};
  run.complete = outcome.stop == (recipe().counts_iterations() ? linear::Stop::loss_threshold : linear::Stop::epochs);
  if (!recipe().counts_iterations()) {
    run.iterations = outcome.last.epoch;
    run.accuracy = setting.judge(outcome.state.weights).accuracy;
  }
  return run;
}

linear::Observer RowRunner::observer(const std::string& rate_name, std::uint64_t seed) const {
  if (!report_ && !interrupt_) return {};
  return [this, rate_name, seed, next = Clock::now()](const linear::Progress& progress) mutable {
    if (interrupt_ && interrupt_()) return false;
    if (!report_) return true;
    constexpr std::int64_t kQuick = 64;  // asking the clock is dearer than a step of a small problem
    if (recipe().training.batch == 0 && progress.epoch % kQuick != 0) return true;
    const Clock::time_point now = Clock::now();
    if (now < next) return true;
    next = now + std::chrono::milliseconds(100);
    report_(fmt::format("{}: seed {} of {}, rate {} = {:.6g}: {} done, loss {:.6g}", recipe().id(), seed, limits_.seeds,
                        rate_name, progress.rate, progress.epoch, progress.loss));
    return true;
  };
}

// A count in the paper far below ours may be a loop that a loss which is not a number has ended: look what a plain
// script would have computed there.
void RowRunner::look_for_naive_stop(const Setting& setting, const linear::Weights<double>& start) {
  if (!recipe().counts_iterations() || recipe().model.family == linear::Family::linear) return;
  const auto coded = std::find_if(result_.runs.begin(), result_.runs.end(),
                                  [](const Run& run) { return run.rate_name == to_string(ConstantKind::coded); });
  if (coded == result_.runs.end() || recipe().paper.computed * 2 > static_cast<double>(coded->iterations)) return;
  linear::SolverOptions options;
  options.rate = coded->rate;
  options.epochs = static_cast<std::int64_t>(recipe().paper.computed) - 1;
  linear::State<double> state;
  state.weights = start;
  result_.naive_loss = setting.naive_loss(linear::solve(setting.problem(), options, std::move(state)).state.weights);
}

template <class Figure>
Spread spread_over(const RowResult& result, const std::string& rate_name, Figure&& figure) {
  std::vector<double> values;
  bool complete = true, diverged = false;
  for (const Run& run : result.runs) {
    if (run.rate_name != rate_name) continue;
    values.push_back(figure(run));
    complete &= run.complete;
    diverged |= run.stop == linear::Stop::not_finite;
  }
  Spread spread = spread_of(values);
  spread.complete = complete;
  spread.diverged = diverged;
  return spread;
}

}  // namespace

std::int64_t epochs_of(const Recipe& recipe, const RunLimits& limits) {
  return recipe.training.epochs && limits.epochs > 0 ? limits.epochs : recipe.training.epochs.value_or(0);
}

double seconds_from(const std::string& text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (failure == std::errc{} && number > 0 && scale > 0 && std::isfinite(number)) return number * scale;
  throw Error(Fault::usage, fmt::format("the budget \"{}\" is no time; write 90s, 30m or 1.5h", text));
}

std::vector<RowResult> run_rows(const std::vector<Recipe>& rows, const RunLimits& limits, ThreadPool& pool,
                                const Reporter& report, const Interrupt& interrupt) {
  // An infinite limit does not fit the clock's numbers; a century does.
  const double seconds = std::min(limits.seconds, 3e9);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<RowResult> results;
  for (const Recipe& recipe : rows) results.push_back(RowRunner(recipe, limits, end, pool, report, interrupt).run());
  return results;
}

std::int64_t RowResult::finished() const {
  return std::count_if(runs.begin(), runs.end(), [](const Run& run) { return run.complete; });
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  spread.count = static_cast<int>(values.size());
  spread.least = *least;
  spread.most = *most;
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / spread.count;
  return spread;
}

Spread iterations_of(const RowResult& result, const std::string& rate_name) {
  return spread_over(result, rate_name, [](const Run& run) { return static_cast<double>(run.iterations); });
}

Spread accuracy_of(const RowResult& result, const std::string& rate_name) {
  return spread_over(result, rate_name, [](const Run& run) { return 100 * run.accuracy; });
}

Spread rate_of(const RowResult& result, const std::string& rate_name) {
  Spread spread = spread_over(result, rate_name, [](const Run& run) { return run.rate; });
  spread.complete = true;  // it is known before the training
  return spread;
}

}  // namespace lipschitzlr::experiment
