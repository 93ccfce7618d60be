#include "lipschitzlr/experiment/network_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::experiment {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using run::NetworkSpeed;
using run::Record;

constexpr int kFailed = static_cast<int>(Fault::training);
constexpr int kStopped = static_cast<int>(Fault::interrupted);
constexpr double kValidationShare = 0.1;  // of the protocol published

bool has_checkpoint(const std::string& folder) { return fs::exists(folder + "/checkpoint.safetensors"); }

// A record is continued only as it began.
void require_equal(const NetworkTask& task, const Limits& limits, const Record& record) {
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"data", limits.data.empty() ? task.recipe.network->data : limits.data},
      {"protocol", task.protocol},
      {"limit", limits.images > 0 ? std::to_string(limits.images) : ""},
      {"seed", std::to_string(task.seed)}};
  for (const auto& [name, value] : wanted) {
    const bool unlimited = name == "limit" && record.number(name) == 0;  // older records have 0 for none
    if ((unlimited ? "" : record.option(name)) == value) continue;
    throw Error(Fault::data,
                fmt::format("{} holds a training with {} \"{}\", not \"{}\"; choose another folder with --records",
                            task.folder, name, record.option(name), value));
  }
}

// A training of this row and seed under another name, that is far enough or can be continued, need not be run again:
// the one with the most epochs.
void look_for_other_name(NetworkTask& task, const std::vector<Record>& records) {
  const bool has_its_own = fs::exists(task.folder);
  for (const Run& run : network_row(task.recipe, records).runs) {
    const Record& record = *run.record;
    if (run.rate_name != task.protocol || record.state == run::RecordState::damaged) continue;
    if (!departures(task.recipe, task.protocol, record).empty()) continue;
    task.known = std::max(task.known, run.iterations);
    const bool useful = has_checkpoint(record.folder) || run.iterations >= task.wanted;
    if (has_its_own || !useful || run.seed != task.seed) continue;
    task.folder = record.folder;
    return;
  }
}

void look_at_record(NetworkTask& task, const Limits& limits) {
  if (!fs::exists(task.folder + "/config.json")) return;
  const Record record = run::read_record(task.folder);
  if (record.kind != run::RecordKind::network || record.state == run::RecordState::damaged) {
    const std::string fault = record.faults.empty() ? "is no training of a network" : record.faults[0];
    task.failure = fmt::format("{}: {}", task.folder, fault);
    return;
  }
  require_equal(task, limits, record);
  task.done = static_cast<std::int64_t>(record.length());
  task.failure = record.failure;
  if (task.done > 0 && !has_checkpoint(task.folder)) task.wanted = std::min(task.wanted, task.done);
}

// The words that start a task, or continue it, up to a number of epochs.
std::vector<std::string> command_of(const NetworkTask& task, std::int64_t epochs, const Limits& limits) {
  std::vector<std::string> words = {"train"};
  const auto add = [&](const std::string& option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (has_checkpoint(task.folder)) {
    add("--resume", task.folder);
  } else {
    const std::vector<std::string> options = train_options(task.recipe, task.protocol);
    words.insert(words.end(), options.begin(), options.end());
    if (!limits.data.empty()) *(std::find(words.begin(), words.end(), "--data") + 1) = limits.data;
    if (limits.images > 0) add("--limit", std::to_string(limits.images));
    add("--seed", std::to_string(task.seed));
    add("-o", task.folder);
  }
  add("--epochs", std::to_string(epochs));
  if (limits.threads > 0) add("--threads", std::to_string(limits.threads));
  return words;
}

class Runner {
 public:
  Runner(std::vector<NetworkTask>& tasks, const Limits& limits, const Launch& launch, const Reporter& report,
         const Interrupt& interrupt)
      : tasks_(tasks), limits_(limits), launch_(launch), report_(report), interrupt_(interrupt) {}

  bool run() {
    if (!std::isfinite(limits_.seconds)) {
      return std::all_of(tasks_.begin(), tasks_.end(),
                         [&](NetworkTask& task) { return !task.open() || train(task, task.wanted); });
    }
    std::vector<NetworkTask*> order;
    for (NetworkTask& task : tasks_) order.push_back(&task);
    std::stable_sort(order.begin(), order.end(), [](const NetworkTask* left, const NetworkTask* right) {
      return left->epoch_seconds < right->epoch_seconds;
    });
    for (std::int64_t goal = 1; is_anything_open(); goal *= 2) {
      for (NetworkTask* task : order) {
        const std::int64_t target = std::min({goal, task->wanted, task->done + epochs_that_fit(*task)});
        if (!task->open() || task->done >= target || goal <= task->known) continue;
        if (!train(*task, target)) return false;
      }
    }
    return true;
  }

 private:
  double seconds_left() const { return limits_.seconds - std::chrono::duration<double>(Clock::now() - start_).count(); }

  std::int64_t epochs_that_fit(const NetworkTask& task) const {
    if (!(task.epoch_seconds > 0)) return seconds_left() > 0 ? task.wanted : 0;
    return static_cast<std::int64_t>(std::max(0.0, seconds_left()) / task.epoch_seconds);
  }

  bool is_anything_open() const {
    return std::any_of(tasks_.begin(), tasks_.end(),
                       [&](const NetworkTask& task) { return task.open() && epochs_that_fit(task) > 0; });
  }

  bool train(NetworkTask& task, std::int64_t epochs) {
    if (report_) {
      report_(fmt::format("{}, {}, seed {}: epoch {} to {} of {}", task.recipe.id(), task.protocol, task.seed,
                          task.done + 1, epochs, task.wanted));
    }
    if (!has_checkpoint(task.folder)) begin_again(task.folder);
    const int code = launch_(
        command_of(task, epochs, limits_), [&] { return interrupt_() || seconds_left() <= 0; }, nullptr);
    task.done = static_cast<std::int64_t>(run::read_record(task.folder).length());
    if (code == kFailed) fail(task);
    if (code == 0 && task.done < epochs) throw Error(Fault::data, fmt::format("{}: an epoch is missing", task.folder));
    if (code != 0 && code != kFailed && code != kStopped) {
      throw Error(static_cast<Fault>(code), fmt::format("{} can't be run; the reason is above", task.recipe.id()));
    }
    return !interrupt_();
  }

  // What a training left that was killed before its first checkpoint can't be continued.
  static void begin_again(const std::string& folder) {
    for (const char* const file : {"/config.json", "/metrics.jsonl"}) fs::remove(folder + file);
  }

  static void fail(NetworkTask& task) {
    task.failure = fmt::format("the loss became NaN or infinite after {}", counted(task.done, "whole epoch"));
    write_file_atomically(task.folder + "/" + run::kFailureFile, task.failure + "\n");
  }

  std::vector<NetworkTask>& tasks_;
  const Limits& limits_;
  const Launch& launch_;
  const Reporter& report_;
  const Interrupt& interrupt_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::vector<NetworkTask> plan(const std::vector<Recipe>& rows, const Limits& limits,
                              const std::vector<Record>& records) {
  std::vector<NetworkTask> tasks;
  for (const Recipe& recipe : rows) {
    for (const std::string& protocol : limits.protocols) {
      if (!recipe.network || !recipe.has(protocol)) continue;
      for (int seed = 1; seed <= limits.seeds_of(recipe); ++seed) {
        NetworkTask task;
        task.recipe = recipe;
        task.protocol = protocol;
        task.seed = static_cast<std::uint64_t>(seed);
        task.folder =
            fmt::format("{}/{}-{}-{}{}", limits.records, recipe.name, protocol, seed, limits.is_try() ? "-try" : "");
        task.wanted = limits.epochs_of(recipe);
        if (limits.data.empty()) task.absent = absent_sets(recipe);
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
    const NetworkTraining& training = *task.recipe.network;
    const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const NetworkSpeed& speed) {
      return speed.data == training.data && speed.network == training.network;
    });
    if (!known && task.unfinished()) wanted.push_back({training.data, training.network, training.batch, 0, 0});
  }
  return wanted;
}

double epoch_seconds(const Recipe& recipe, const std::string& protocol, const std::vector<NetworkSpeed>& speeds,
                     const Limits& limits) {
  const NetworkTraining& training = *recipe.network;
  const auto speed = std::find_if(speeds.begin(), speeds.end(), [&](const NetworkSpeed& entry) {
    return entry.data == training.data && entry.network == training.network;
  });
  if (speed == speeds.end()) return 0;
  const data::catalogue::Entry& entry = data::catalogue::entry(training.data);
  const bool coded = protocol == "coded", other_data = !limits.data.empty();
  double images = static_cast<double>(other_data ? limits.images : entry.rows);
  double judged = coded ? static_cast<double>(data::catalogue::entry(entry.companion).rows) : kValidationShare * images;
  if (other_data) judged = 0;
  if (!coded) images -= judged;
  if (limits.images > 0) images = std::min(images, static_cast<double>(limits.images));
  const bool passes = coded && training.policy == "adaptive";
  return images * speed->step + (judged + (passes ? images : 0)) * speed->forward;
}

bool run_tasks(std::vector<NetworkTask>& tasks, const Limits& limits, const Launch& launch, const Reporter& report,
               const Interrupt& interrupt) {
  return Runner(tasks, limits, launch, report, interrupt).run();
}

}  // namespace lipschitzlr::experiment
