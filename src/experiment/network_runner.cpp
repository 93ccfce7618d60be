#include "lipschitzlr/experiment/network_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::experiment {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kFailed = static_cast<int>(Fault::training);
constexpr int kStopped = static_cast<int>(Fault::interrupted);
constexpr double kValidationShare = 0.1;  // of the protocol published

bool has_checkpoint(const std::string& folder) { return fs::exists(folder + "/checkpoint.safetensors"); }

// A record goes on only as it began.
void require_equal(const NetworkTask& task, const NetworkLimits& limits, const run::NetworkRecord& record) {
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"data", limits.data.empty() ? task.recipe.training.data : limits.data},
      {"protocol", task.protocol},
      {"limit", std::to_string(limits.images)},
      {"seed", std::to_string(task.seed)}};
  for (const auto& [name, value] : wanted) {
    if (record.option(name) == value) continue;
    throw Error(Fault::data,
                fmt::format("{} holds a training with {} \"{}\", not \"{}\"; choose another folder with --records",
                            task.folder, name, record.option(name), value));
  }
}

// A training of this row and seed under another name, that is far enough or can go on, need not be run again: the one
// with the most epochs.
void look_for_other_name(NetworkTask& task, const std::vector<run::NetworkRecord>& records) {
  const bool has_its_own = fs::exists(task.folder);
  for (const run::NetworkRecord* record : records_of(task.recipe, task.protocol, records)) {
    if (!record->problem.empty() || !departures(task.recipe, task.protocol, *record).empty()) continue;
    const auto epochs = static_cast<std::int64_t>(record->epochs.size());
    task.known = std::max(task.known, epochs);
    const bool useful = has_checkpoint(record->folder) || epochs >= task.wanted;
    if (has_its_own || !useful || record->option("seed") != std::to_string(task.seed)) continue;
    task.folder = record->folder;
    return;
  }
}

void look_at_record(NetworkTask& task, const NetworkLimits& limits) {
  if (!fs::exists(task.folder + "/config.json")) return;
  const run::NetworkRecord record = run::read_network_record(task.folder);
  if (!record.problem.empty()) {
    task.failure = record.problem;
    return;
  }
  require_equal(task, limits, record);
  task.done = static_cast<std::int64_t>(record.epochs.size());
  task.failure = record.failure;
  if (task.done > 0 && !has_checkpoint(task.folder)) task.wanted = std::min(task.wanted, task.done);
}

class Runner {
 public:
  Runner(std::vector<NetworkTask>& tasks, const NetworkLimits& limits, const Launch& launch, const Report& report,
         const std::function<bool()>& stopped)
      : tasks_(tasks), limits_(limits), launch_(launch), report_(report), stopped_(stopped) {}

  bool run() {
    if (!std::isfinite(limits_.seconds)) return run_all();
    std::vector<NetworkTask*> order;
    for (NetworkTask& task : tasks_) order.push_back(&task);
    std::stable_sort(order.begin(), order.end(), [](const NetworkTask* left, const NetworkTask* right) {
      return left->epoch_seconds < right->epoch_seconds;
    });
    for (std::int64_t goal = 1; is_anything_open(); goal *= 2) {
      for (NetworkTask* task : order) {
        const std::int64_t target = std::min({goal, task->wanted, task->done + epochs_that_fit(*task)});
        if (!task->open() || task->done >= target || goal <= task->known) continue;
        if (!go(*task, target)) return false;
      }
    }
    return true;
  }

 private:
  bool run_all() {
    for (NetworkTask& task : tasks_) {
      if (task.open() && !go(task, task.wanted)) return false;
    }
    return true;
  }

  double seconds_left() const { return limits_.seconds - std::chrono::duration<double>(Clock::now() - start_).count(); }

  std::int64_t epochs_that_fit(const NetworkTask& task) const {
    if (!(task.epoch_seconds > 0)) return seconds_left() > 0 ? task.wanted : 0;
    return static_cast<std::int64_t>(std::max(0.0, seconds_left()) / task.epoch_seconds);
  }

  bool is_anything_open() const {
    return std::any_of(tasks_.begin(), tasks_.end(),
                       [&](const NetworkTask& task) { return task.open() && epochs_that_fit(task) > 0; });
  }

  bool go(NetworkTask& task, std::int64_t epochs) {
    if (report_) {
      report_(fmt::format("{}, {}, seed {}: epoch {} to {} of {}", task.recipe.id(), task.protocol, task.seed,
                          task.done + 1, epochs, task.wanted));
    }
    if (!has_checkpoint(task.folder)) begin_again(task.folder);
    const int code = launch_(command_of(task, epochs, limits_), seconds_left());
    const run::NetworkRecord record = run::read_network_record(task.folder);
    task.done = static_cast<std::int64_t>(record.epochs.size());
    if (code == kFailed) fail(task);
    if (code == 0 && task.done < epochs) throw Error(Fault::data, fmt::format("{}: an epoch is missing", task.folder));
    if (code != 0 && code != kFailed && code != kStopped) {
      throw Error(static_cast<Fault>(code), fmt::format("{} can't be run; the reason stands above", task.recipe.id()));
    }
    return !stopped_();
  }

  // What a training left that was killed before its first checkpoint can't be gone on with.
  static void begin_again(const std::string& folder) {
    for (const char* const file : {"/config.json", "/metrics.jsonl"}) fs::remove(folder + file);
  }

  static void fail(NetworkTask& task) {
    task.failure = fmt::format("the loss left the finite numbers after {}", counted(task.done, "whole epoch"));
    write_file_atomically(task.folder + "/" + run::kFailureFile, task.failure + "\n");
  }

  std::vector<NetworkTask>& tasks_;
  const NetworkLimits& limits_;
  const Launch& launch_;
  const Report& report_;
  const std::function<bool()>& stopped_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::vector<std::string> absent_sets(const std::string& data) {
  std::vector<std::string> absent;
  const data::catalogue::Entry& entry = data::catalogue::entry(data);
  for (const std::string& name : {entry.name, entry.companion}) {
    if (data::catalogue::place(data::catalogue::entry(name)) == data::catalogue::Place::absent) absent.push_back(name);
  }
  return absent;
}

std::vector<NetworkTask> plan(const std::vector<NetworkRecipe>& rows, const NetworkLimits& limits) {
  std::vector<NetworkTask> tasks;
  const std::vector<run::NetworkRecord> records = run::read_network_records(limits.records);
  for (const NetworkRecipe& recipe : rows) {
    for (const std::string& protocol : limits.protocols) {
      if (!recipe.has(protocol)) continue;
      for (int seed = 1; seed <= limits.seeds; ++seed) {
        NetworkTask task;
        task.recipe = recipe;
        task.protocol = protocol;
        task.seed = static_cast<std::uint64_t>(seed);
        task.folder =
            fmt::format("{}/{}-{}-{}{}", limits.records, recipe.name, protocol, seed, limits.is_try() ? "-try" : "");
        task.wanted = limits.epochs > 0 ? limits.epochs : recipe.training.epochs;
        if (limits.data.empty()) task.absent = absent_sets(recipe.training.data);
        if (!limits.is_try()) look_for_other_name(task, records);
        look_at_record(task, limits);
        tasks.push_back(std::move(task));
      }
    }
  }
  return tasks;
}

std::vector<NetworkSpeed> wanted_speeds(const std::vector<NetworkTask>& tasks) {
  std::vector<NetworkSpeed> wanted;
  for (const NetworkTask& task : tasks) {
    const NetworkTraining& training = task.recipe.training;
    const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const NetworkSpeed& speed) {
      return speed.data == training.data && speed.network == training.network;
    });
    if (!known && task.failure.empty() && task.done < task.wanted)
      wanted.push_back({training.data, training.network, training.batch, 0, 0});
  }
  return wanted;
}

std::vector<NetworkSpeed> speeds_from(const std::string& json) {
  std::vector<NetworkSpeed> speeds;
  try {
    for (const nlohmann::json& entry : nlohmann::json::parse(json)) {
      speeds.push_back({entry.at("data"), entry.at("network"), entry.at("batch"), entry.at("step_seconds"),
                        entry.at("forward_seconds")});
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(Fault::data, "the probe of the libtorch part gave no speeds; run it again, or without --budget");
  }
  return speeds;
}

void estimate(std::vector<NetworkTask>& tasks, const std::vector<NetworkSpeed>& speeds, const NetworkLimits& limits) {
  for (NetworkTask& task : tasks) {
    const NetworkTraining& training = task.recipe.training;
    const auto speed = std::find_if(speeds.begin(), speeds.end(), [&](const NetworkSpeed& entry) {
      return entry.data == training.data && entry.network == training.network;
    });
    if (speed == speeds.end()) continue;
    const data::catalogue::Entry& entry = data::catalogue::entry(training.data);
    const bool coded = task.protocol == "coded", other_data = !limits.data.empty();
    double images = static_cast<double>(other_data ? limits.images : entry.rows);
    double judged =
        coded ? static_cast<double>(data::catalogue::entry(entry.companion).rows) : kValidationShare * images;
    if (other_data) judged = 0;
    if (!coded) images -= judged;
    if (limits.images > 0) images = std::min(images, static_cast<double>(limits.images));
    const bool passes = coded && training.policy == "adaptive";
    task.epoch_seconds = images * speed->step + (judged + (passes ? images : 0)) * speed->forward;
  }
}

std::vector<std::string> command_of(const NetworkTask& task, std::int64_t epochs, const NetworkLimits& limits) {
  std::vector<std::string> words = {"train"};
  const auto add = [&](const std::string& option, const std::string& value) {
    words.push_back(option);
    words.push_back(value);
  };
  if (has_checkpoint(task.folder)) {
    add("--resume", task.folder);
  } else {
    for (const std::string& word : train_options(task.recipe, task.protocol)) words.push_back(word);
    if (!limits.data.empty()) *(std::find(words.begin(), words.end(), "--data") + 1) = limits.data;
    if (limits.images > 0) add("--limit", std::to_string(limits.images));
    add("--seed", std::to_string(task.seed));
    add("-o", task.folder);
  }
  add("--epochs", std::to_string(epochs));
  if (limits.threads > 0) add("--threads", std::to_string(limits.threads));
  return words;
}

bool run_tasks(std::vector<NetworkTask>& tasks, const NetworkLimits& limits, const Launch& launch, const Report& report,
               const std::function<bool()>& stopped) {
  return Runner(tasks, limits, launch, report, stopped).run();
}

}  // namespace lipschitzlr::experiment
