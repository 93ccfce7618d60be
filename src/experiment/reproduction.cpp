#include "lipschitzlr/experiment/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiment/output_json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/linear_runner.hpp"
#include "lipschitzlr/experiment/output.hpp"

namespace lipschitzlr::experiment {
namespace {

constexpr double kLinearShare = 0.5;  // of the budget, at most, when there are networks too

}  // namespace

Reproduction::Reproduction(std::vector<Recipe> recipes, const Limits& limits, Hooks hooks)
    : recipes_(std::move(recipes)), limits_(limits), hooks_(std::move(hooks)) {
  // Records say from where they came; a path that holds in this folder only would not.
  if (!limits_.data.empty()) limits_.data = std::filesystem::absolute(limits_.data).lexically_normal().string();
  known_ = collect({limits_.records});
  tasks_ = plan(recipes_, limits_, known_.records);
}

std::string Reproduction::estimate(bool json) {
  const std::vector<run::NetworkSpeed> speeds = measure_speeds(false);
  for (NetworkTask& task : tasks_) task.epoch_seconds = epoch_seconds(task.recipe, task.protocol, speeds, limits_);
  const bool linear =
      std::any_of(recipes_.begin(), recipes_.end(), [](const Recipe& recipe) { return recipe.linear.has_value(); });
  if (linear) hooks_.say("rows of tables 1 and 2 are not estimated: seconds each, minutes on the larger sets");
  if (json) return estimate_json(tasks_, speeds);
  return tasks_.empty() ? "" : estimate_text(tasks_, speeds);
}

std::string Reproduction::run(bool json) {
  make_records_folder();
  run_linear();
  if (!tasks_.empty() && !hooks_.interrupt()) run_networks();
  return results(json);
}

double Reproduction::seconds_left() const {
  return limits_.seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Reproduction::make_records_folder() const {
  std::error_code failure;
  std::filesystem::create_directories(limits_.records, failure);
  if (failure) throw Error(Fault::data, fmt::format("{}: {}", limits_.records, failure.message()));
  check_writable(limits_.records + "/" + run::kSpeedsFile);
}

std::vector<run::NetworkSpeed> Reproduction::measure_speeds(bool keep) {
  const std::vector<run::NetworkSpeed> wanted = wanted_speeds(tasks_);
  std::vector<run::NetworkSpeed> speeds;
  for (const run::NetworkSpeed& one : wanted) {
    // One by one, each with a line: large networks take many seconds.
    hooks_.say(fmt::format("measuring how fast {} trains on {} here, {} of {}", one.network, one.data,
                           speeds.size() + 1, wanted.size()));
    std::vector<std::string> words = {"probe", fmt::format("{}:{}:{}", one.data, one.network, one.batch)};
    if (limits_.threads > 0) words.insert(words.end(), {"--threads", std::to_string(limits_.threads)});
    std::string output;
    const int code = hooks_.launch(words, hooks_.interrupt, &output);
    if (hooks_.interrupt()) return {};  // nothing will be run either
    if (code != 0) throw Error(static_cast<Fault>(code), "the libtorch part failed; the reason is above");
    const std::vector<run::NetworkSpeed> measured = run::speeds_from(output);
    speeds.insert(speeds.end(), measured.begin(), measured.end());
  }
  if (keep && !speeds.empty()) {
    write_file_atomically(limits_.records + "/" + run::kSpeedsFile, run::to_json(speeds) + "\n");
  }
  return speeds;
}

// Every row has its share of the time left; what it does not need goes to those after it.
void Reproduction::run_linear() {
  const double reserved = tasks_.empty() ? 0 : (1 - kLinearShare) * limits_.seconds;
  auto rows_left = static_cast<double>(
      std::count_if(recipes_.begin(), recipes_.end(), [](const Recipe& recipe) { return recipe.linear.has_value(); }));
  Limits limits = limits_;
  for (const Recipe& recipe : recipes_) {
    if (!recipe.linear) continue;
    if (std::isfinite(limits_.seconds)) limits.seconds = std::max(0.0, seconds_left() - reserved) / rows_left--;
    linear_.push_back(linear_row(recipe, limits));
  }
}

// A row is written as soon as it is done, so that a report finds all in one folder and the next call continues.
Row Reproduction::linear_row(const Recipe& recipe, const Limits& limits) {
  const std::optional<Row> known = measured_row(known_, recipe, limits);
  if (known && known->whole()) {
    hooks_.say(fmt::format("{}: measured before, {}", recipe.id(), known->file));
    return *known;
  }
  ThreadPool pool(limits.threads);
  const Row row = run_rows({recipe}, limits, pool, hooks_.progress, hooks_.interrupt)[0];
  if (known && known->finished() >= row.finished() && !row.whole()) return *known;  // had more time
  if (!row.runs.empty()) write_row(limits.records, row);
  return row;
}

void Reproduction::run_networks() {
  if (limits_.is_try()) hooks_.say("other images or fewer are a try: recorded, not judged");
  Limits limits = limits_;
  if (std::isfinite(limits_.seconds)) {
    const std::vector<run::NetworkSpeed> speeds = measure_speeds(true);
    for (NetworkTask& task : tasks_) task.epoch_seconds = epoch_seconds(task.recipe, task.protocol, speeds, limits_);
    limits.seconds = std::max(0.0, seconds_left());
  }
  run_tasks(tasks_, limits, hooks_.launch, hooks_.say, hooks_.interrupt);
}

std::string Reproduction::results(bool json) const {
  nlohmann::ordered_json all;
  std::string text;
  for (const std::string table : {"table1", "table2"}) {
    std::vector<Row> rows = linear_;
    std::erase_if(rows, [&](const Row& row) { return row.recipe.table != table; });
    if (rows.empty()) continue;
    all[table] = judged_json(rows);
    text += fmt::format("{}\n{}\n", table, to_text(rows));
  }
  if (!tasks_.empty()) {
    const Collection found = collect({limits_.records});
    std::vector<Row> rows;
    for (const NetworkTask& task : tasks_) {
      if (!rows.empty() && rows.back().recipe.id() == task.recipe.id()) continue;
      Row& row = rows.emplace_back(network_row(task.recipe, found.records));
      row.absent = task.absent;
      if (task.epoch_seconds > 0) {
        row.hours = task.epoch_seconds * static_cast<double>(task.recipe.network->epochs) / 3600;
      }
    }
    all["networks"] = judged_json(rows, tasks_);
    text += to_text(rows, tasks_);
  }
  return json ? all.dump(2) + "\n" : text;
}

}  // namespace lipschitzlr::experiment
