#include "lipschitzlr/run/network_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void read_config(NetworkRecord& record) {
  const json config = json::parse(read_file(record.folder + "/config.json"));
  if (config.at("kind") != kNetworkTraining) {
    throw Error(Fault::data, fmt::format("{}: is the record of another kind of run", record.folder));
  }
  record.command = config.value("command", std::vector<std::string>{});
  record.training_images = config.value("training_images", std::int64_t{0});
  record.validated_on = config.value("validated_on", "");
  for (const auto& [name, value] : config.at("options").items()) {
    record.options[name] = value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  }
}

EpochLine epoch_line(const json& line) {
  const auto number = [&](const char* name) {
    const auto found = line.find(name);
    if (found == line.end()) return 0.0;
    return found->is_null() ? std::numeric_limits<double>::infinity() : found->get<double>();
  };
  EpochLine epoch;
  epoch.epoch = line.at("epoch");
  epoch.step = line.at("step");
  epoch.loss = number("loss"), epoch.penalty = number("penalty"), epoch.accuracy = number("accuracy");
  epoch.val_loss = number("val_loss"), epoch.val_accuracy = number("val_accuracy");
  epoch.rate = number("rate"), epoch.last_rate = number("last_rate");
  epoch.penultimate_norm = number("K_z"), epoch.weight_norm = number("max_w");
  epoch.train_seconds = number("train_seconds"), epoch.measure_seconds = number("measure_seconds");
  epoch.validate_seconds = number("validate_seconds");
  return epoch;
}

// A line that a killed run left half written is the last one, and no fault. Another one is, and the rest still counts.
void read_epochs(NetworkRecord& record) {
  std::istringstream lines(read_file(record.folder + "/metrics.jsonl"));
  std::int64_t number = 0;
  for (std::string text; std::getline(lines, text);) {
    ++number;
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded() && lines.eof()) return;
    if (!line.is_object() || !line.contains("kind")) {
      record.problem = fmt::format("{}/metrics.jsonl: line {} is damaged", record.folder, number);
      continue;
    }
    if (line.at("kind") == "epoch") record.epochs.push_back(epoch_line(line));
  }
}

}  // namespace

std::string NetworkRecord::option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

double NetworkRecord::number(const std::string& name) const { return std::strtod(option(name).c_str(), nullptr); }

NetworkRecord read_network_record(const std::string& folder) {
  NetworkRecord record;
  record.folder = folder;
  try {
    read_config(record);
    read_epochs(record);
    if (fs::exists(folder + "/" + kFailureFile)) record.failure = read_file(folder + "/" + kFailureFile);
    while (record.failure.ends_with('\n')) record.failure.pop_back();
    record.finished = fs::exists(folder + "/summary.json");
  } catch (const Error& error) {
    record.problem = error.what();
  } catch (const json::exception&) {
    const char* const file = record.options.empty() ? "config.json" : "metrics.jsonl";
    record.problem = fmt::format("{}/{}: is not that of a network training", folder, file);
  }
  return record;
}

std::vector<NetworkRecord> read_network_records(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  if (fs::exists(folder + "/config.json")) paths.push_back(folder);
  for (const auto& place : fs::directory_iterator(folder, failure)) {
    if (fs::exists(place.path() / "config.json")) paths.push_back(place.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<NetworkRecord> records;
  for (const std::string& path : paths) records.push_back(read_network_record(path));
  return records;
}

}  // namespace lipschitzlr::run
