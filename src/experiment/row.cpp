#include "lipschitzlr/experiment/row.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "lipschitzlr/experiment/limits.hpp"

namespace lipschitzlr::experiment {
namespace {

template <class Figure>
Spread spread_over(const Row& row, const std::string& rate_name, Figure&& figure) {
  std::vector<double> values;
  Spread spread;
  for (const Run* run : runs_behind(row, rate_name)) {
    values.push_back(figure(*run));
    spread.complete &= run->complete;
    spread.diverged |= run->stop == linear::Stop::not_finite;
  }
  if (values.empty()) return spread;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  spread.count = static_cast<int>(values.size());
  spread.least = *least;
  spread.most = *most;
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / spread.count;
  return spread;
}

}  // namespace

std::int64_t Row::finished() const {
  return std::count_if(runs.begin(), runs.end(), [](const Run& run) { return run.complete; });
}

std::vector<std::string> Row::command() const {
  std::vector<std::string> words = {"reproduce", recipe.table, recipe.name, "--seeds", std::to_string(seeds)};
  const bool counts = recipe.linear->counts_iterations();
  if (counts && max_iterations > 0 && max_iterations != Limits().max_iterations) {
    words.insert(words.end(), {"--max-iterations", std::to_string(max_iterations)});
  }
  if (epochs > 0) words.insert(words.end(), {"--epochs", std::to_string(epochs)});
  return words;
}

std::vector<const Run*> runs_behind(const Row& row, const std::string& rate_name) {
  std::vector<const Run*> runs;
  std::set<std::uint64_t> seeds;
  for (const Run& run : row.runs) {
    if (run.rate_name != rate_name) continue;
    if (row.recipe.network) {
      const std::int64_t furthest = runs.empty() ? 1 : runs[0]->iterations;
      if (run.iterations < furthest || !seeds.insert(run.seed).second) continue;
    }
    runs.push_back(&run);
  }
  return runs;
}

Spread iterations_of(const Row& row, const std::string& rate_name) {
  return spread_over(row, rate_name, [](const Run& run) { return static_cast<double>(run.iterations); });
}

Spread accuracy_of(const Row& row, const std::string& rate_name) {
  return spread_over(row, rate_name, [](const Run& run) { return 100 * run.accuracy; });
}

Spread last_accuracy_of(const Row& row, const std::string& rate_name) {
  return spread_over(row, rate_name, [](const Run& run) { return 100 * run.last_accuracy; });
}

Spread rate_of(const Row& row, const std::string& rate_name) {
  Spread spread = spread_over(row, rate_name, [](const Run& run) { return run.rate; });
  spread.complete = true;  // it is known before the training
  return spread;
}

Peak best_accuracy(const std::vector<double>& shares, std::size_t epochs) {
  Peak best;
  for (std::size_t i = 0; i < std::min(epochs, shares.size()); ++i) {
    if (std::isfinite(shares[i]) && (best.epoch == 0 || shares[i] > best.share)) best = {i + 1, shares[i]};
  }
  return best;
}

Peak best_accuracy(const run::Record& record, std::size_t epochs) {
  Peak best = best_accuracy(record.column("val_accuracy"), epochs);
  // A damaged line may be missing before it.
  if (best.epoch > 0) best.epoch = static_cast<std::size_t>(record.column("epoch")[best.epoch - 1]);
  return best;
}

}  // namespace lipschitzlr::experiment
