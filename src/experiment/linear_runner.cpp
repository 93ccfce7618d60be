#include "lipschitzlr/experiment/linear_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

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
  RowRunner(const Recipe& recipe, const Limits& limits, Clock::time_point end, ThreadPool& pool, const Reporter& report,
            const Interrupt& interrupt)
      : limits_(limits), end_(end), pool_(pool), report_(report), interrupt_(interrupt) {
    row_.recipe = recipe;
    row_.seeds = limits.seeds_of(recipe);
    row_.max_iterations = limits.max_iterations;
    row_.epochs = limits.epochs_of(recipe);
  }

  Row run();

 private:
  const Recipe& recipe() const { return row_.recipe; }
  const LinearTraining& training() const { return *row_.recipe.linear; }
  // Whether to end here, noting why.
  bool must_end() {
    row_.interrupted |= interrupt_ && interrupt_();
    row_.out_of_time |= seconds_left() <= 0;
    return row_.interrupted || row_.out_of_time;
  }
  double seconds_left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }
  std::vector<NamedRate> rates(const Setting& setting) const;
  void run_seed(const Setting& setting, std::uint64_t seed, const linear::Weights<double>& start);
  Run run_rate(const Setting& setting, const NamedRate& rate, std::uint64_t seed, const linear::Weights<double>& start,
               double seconds);
  void describe(const Setting& setting);
  void look_for_naive_stop(const Setting& setting, const linear::Weights<double>& start);
  linear::Observer observer(const std::string& rate_name, std::uint64_t seed) const;

  Limits limits_;
  Clock::time_point end_;
  ThreadPool& pool_;
  const Reporter& report_;
  const Interrupt& interrupt_;
  Row row_;
};

Row RowRunner::run() {
  row_.absent = absent_sets(recipe());
  if (!row_.absent.empty()) return row_;
  if (must_end()) return row_;
  if (report_) report_(fmt::format("{}: reading the data", recipe().id()));
  const RowData data = load_data(recipe());
  const bool splits = training().test_fraction > 0;
  std::unique_ptr<Setting> setting;
  for (int seed = 1; seed <= row_.seeds; ++seed) {
    if (must_end()) break;
    // Without a split only the start depends on the seed: the matrix and its norms stay.
    const auto number = static_cast<std::uint64_t>(seed);
    if (!setting || splits) setting = std::make_unique<Setting>(recipe(), data, number, pool_);
    if (seed == 1) describe(*setting);
    run_seed(*setting, number, draw_start(recipe(), setting->problem(), number));
    if (!row_.interrupted && !row_.out_of_time) ++row_.seeds_done;
  }
  return row_;
}

void RowRunner::describe(const Setting& setting) {
  row_.rows = setting.problem().rows();
  const linear::Weights<double> zero = setting.problem().zero_weights();
  linear::Weights<double> gradient;
  row_.zero_loss = setting.problem().evaluate(zero, gradient);
  const linear::Metrics judged = setting.judge(zero);
  row_.majority = judged.majority_accuracy;
  row_.judged_rows = judged.rows;
  row_.judged_held_out_rows = setting.judges_held_out_rows();
}

std::vector<NamedRate> RowRunner::rates(const Setting& setting) const {
  std::vector<NamedRate> list{{"baseline", training().baseline_rate, false}};
  const auto add = [&](ConstantKind kind, bool comparison) {
    list.push_back({to_string(kind), setting.constant(kind).rate(), comparison});
  };
  for (const std::string& protocol : recipe().protocols) add(*bound::constant_kind_from(protocol), false);
  add(ConstantKind::certified, true);
  add(ConstantKind::gradient, true);
  return list;
}

void RowRunner::run_seed(const Setting& setting, std::uint64_t seed, const linear::Weights<double>& start) {
  const std::vector<NamedRate> list = rates(setting);
  std::vector<std::optional<Run>> runs(list.size());
  // The baseline, which comes first and can take a thousand times longer than the others, has what time they leave.
  for (std::size_t left = list.size(); left > 0 && !row_.interrupted; --left) {
    const std::size_t i = (list.size() - left + 1) % list.size();
    const auto same =
        std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run && run->rate == list[i].rate; });
    const double seconds = seconds_left() / static_cast<double>(left);
    runs[i] = same != runs.end() ? **same : run_rate(setting, list[i], seed, start, seconds);
    runs[i]->rate_name = list[i].name;
    row_.out_of_time |= runs[i]->stop == linear::Stop::seconds;
    row_.interrupted |= runs[i]->stop == linear::Stop::interrupted;
  }
  for (const auto& run : runs) {
    if (run) row_.runs.push_back(*run);
  }
  if (seed == 1 && !row_.interrupted) look_for_naive_stop(setting, start);
}

Run RowRunner::run_rate(const Setting& setting, const NamedRate& rate, std::uint64_t seed,
                        const linear::Weights<double>& start, double seconds) {
  linear::SolverOptions options;
  options.solver = training().batch > 0 ? linear::Solver::sgd : linear::Solver::gd;
  options.rate = rate.rate;
  options.batch = training().batch;
  options.seed = seed;
  options.seconds = std::max(0.0, seconds);
  if (training().counts_iterations()) {
    const std::int64_t most =
        rate.comparison ? std::min(limits_.max_iterations, kComparisonIterations) : limits_.max_iterations;
    options.loss_threshold = *training().threshold;
    options.epochs = most - 1;  // the first measurement comes before the first update
  } else {
    options.epochs = row_.epochs;
  }
  linear::State<double> state;
  state.weights = start;
  Run run;
  linear::Observer observe = observer(rate.name, seed);
  if (training().best_epoch) {
    options.patience = options.epochs + 1;  // never stops, but judges every epoch
    options.held_out = [&](const linear::Weights<double>& weights) {
      run.epoch_accuracies.push_back(setting.judge(weights).accuracy);
      return -run.epoch_accuracies.back();
    };
    observe = [&run, show = std::move(observe)](const linear::Progress& progress) {
      run.epoch_losses.push_back(progress.batch_loss);
      return !show || show(progress);
    };
  }
  const linear::Outcome<double> outcome = linear::solve(setting.problem(), options, std::move(state), observe);
  run.rate_name = rate.name;
  run.seed = seed;
  run.rate = rate.rate;
  run.iterations = outcome.checks.measurements;
  run.stop = outcome.stop;
  run.loss = outcome.last.loss;
  run.complete = outcome.stop == (training().counts_iterations() ? linear::Stop::loss_threshold : linear::Stop::epochs);
  if (!training().counts_iterations()) {
    run.iterations = outcome.last.epoch;
    run.last_accuracy = run.accuracy = setting.judge(outcome.state.weights).accuracy;
  }
  if (training().best_epoch) {  // the start was judged too
    run.epoch_losses.erase(run.epoch_losses.begin());
    run.epoch_accuracies.erase(run.epoch_accuracies.begin());
    run.accuracy = best_accuracy(run.epoch_accuracies).share;
  }
  return run;
}

linear::Observer RowRunner::observer(const std::string& rate_name, std::uint64_t seed) const {
  if (!report_ && !interrupt_) return {};
  return [this, rate_name, seed, next = Clock::now()](const linear::Progress& progress) mutable {
    if (interrupt_ && interrupt_()) return false;
    if (!report_) return true;
    constexpr std::int64_t kQuick = 64;  // asking the clock is dearer than a step of a small problem
    if (training().batch == 0 && progress.epoch % kQuick != 0) return true;
    const Clock::time_point now = Clock::now();
    if (now < next) return true;
    next = now + std::chrono::milliseconds(100);
    report_(fmt::format("{}: seed {} of {}, rate {} = {:.6g}: {} done, loss {:.6g}", recipe().id(), seed, row_.seeds,
                        rate_name, progress.rate, progress.epoch, progress.loss));
    return true;
  };
}

// A count in the paper far below ours may be a loop that a loss which is not a number has ended: look what a plain
// script would have computed there.
void RowRunner::look_for_naive_stop(const Setting& setting, const linear::Weights<double>& start) {
  if (!training().counts_iterations() || training().family == linear::Family::linear) return;
  const auto coded = std::find_if(row_.runs.begin(), row_.runs.end(),
                                  [](const Run& run) { return run.rate_name == to_string(ConstantKind::coded); });
  if (coded == row_.runs.end() || training().paper.computed * 2 > static_cast<double>(coded->iterations)) return;
  linear::SolverOptions options;
  options.solver = linear::Solver::gd;
  options.rate = coded->rate;
  options.epochs = static_cast<std::int64_t>(training().paper.computed) - 1;
  linear::State<double> state;
  state.weights = start;
  row_.naive_loss = setting.naive_loss(linear::solve(setting.problem(), options, std::move(state)).state.weights);
}

}  // namespace

std::vector<Row> run_rows(const std::vector<Recipe>& rows, const Limits& limits, ThreadPool& pool,
                          const Reporter& report, const Interrupt& interrupt) {
  // An infinite limit does not fit the clock's numbers; a century does.
  const double seconds = std::min(limits.seconds, 3e9);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<Row> results;
  for (const Recipe& recipe : rows) results.push_back(RowRunner(recipe, limits, end, pool, report, interrupt).run());
  return results;
}

}  // namespace lipschitzlr::experiment
