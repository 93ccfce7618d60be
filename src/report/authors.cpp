#include "report/authors.hpp"

#include <algorithm>

namespace lipschitzlr::report {
namespace {

const experiment::NetworkRecipe* recipe_of(const run::NetworkRecord& record) {
  for (const experiment::NetworkRecipe& recipe : experiment::network_recipes()) {
    const bool same = std::any_of(recipe.protocols.begin(), recipe.protocols.end(), [&](const std::string& protocol) {
      return experiment::is_of(recipe, protocol, record);
    });
    if (same) return &recipe;
  }
  return nullptr;
}

double seconds_per_epoch(const run::NetworkRecord& record) {
  double sum = 0;
  for (const run::EpochLine& epoch : record.epochs) {
    sum += epoch.train_seconds + epoch.measure_seconds + epoch.validate_seconds;
  }
  return sum / static_cast<double>(record.epochs.size());
}

}  // namespace

std::vector<NetworkRun> network_runs(const Collection& collection) {
  std::vector<NetworkRun> runs;
  for (std::size_t i = 0; i < collection.runs.size(); ++i) {
    const RunRecord& record = collection.runs[i];
    if (record.kind != RecordKind::network || record.length() == 0) continue;
    NetworkRun run{&record, static_cast<int>(i), recipe_of(run::read_network_record(record.folder)), nullptr};
    if (run.recipe != nullptr) run.curve = experiment::authors_curve(run.recipe->curve);
    runs.push_back(run);
  }
  return runs;
}

std::vector<run::NetworkRecord> records_to_judge(const Collection& collection) {
  std::vector<run::NetworkRecord> records;
  for (const RunRecord& record : collection.runs) {
    if (record.kind == RecordKind::network) records.push_back(run::read_network_record(record.folder));
  }
  return records;
}

std::optional<double> hours_of(const experiment::NetworkRecipe& recipe, const std::vector<run::NetworkRecord>& records,
                               const std::vector<experiment::NetworkSpeed>& speeds) {
  std::optional<double> hours;
  for (const run::NetworkRecord& record : records) {
    // A computed rate may take a pass of its own over the images.
    const bool same = record.option("network") == recipe.training.network && record.number("limit") == 0 &&
                      record.option("policy") == recipe.training.policy;
    // Both CIFAR sets have as many images, of the same size.
    const std::string data = record.option("data").substr(0, 5);
    if (!same || record.epochs.empty() || data != recipe.training.data.substr(0, 5)) continue;
    const double own = seconds_per_epoch(record) * static_cast<double>(recipe.training.epochs) / 3600;
    hours = hours ? std::min(*hours, own) : own;
  }
  if (hours) return hours;
  std::vector<experiment::NetworkTask> task(1);
  task[0].recipe = recipe;
  task[0].protocol = recipe.has("coded") ? "coded" : recipe.protocols.front();
  task[0].wanted = recipe.training.epochs;
  experiment::estimate(task, speeds, {});
  if (task[0].epoch_seconds > 0) hours = task[0].hours_left();
  return hours;
}

}  // namespace lipschitzlr::report
