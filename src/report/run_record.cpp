#include "lipschitzlr/report/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/run/network_record.hpp"
#include "report/reading.hpp"

namespace lipschitzlr::report {
namespace {

using nlohmann::json;

class Reader {
 public:
  explicit Reader(const std::string& folder) { record_.folder = folder; }

  RunRecord read() {
    if (!std::filesystem::is_directory(record_.folder)) {
      record_.state = RecordState::missing;
      record_.faults.push_back("There is no such folder.");
      return record_;
    }
    read_config();
    read_metrics();
    if (record_.length() > 0) record_.epochs_done = static_cast<std::int64_t>(record_.curve("epoch").back());
    const std::vector<double>& loss = record_.curve("loss");
    record_.last_loss = loss.empty() ? std::numeric_limits<double>::quiet_NaN() : loss.back();
    read_summary();
    return record_;
  }

 private:
  std::string path(const char* file) const { return record_.folder + "/" + file; }

  void damage(const std::string& sentence) {
    record_.state = RecordState::damaged;
    record_.faults.push_back(sentence);
  }

  void cut(const std::string& sentence) {
    if (record_.state == RecordState::complete) record_.state = RecordState::cut_short;
    record_.faults.push_back(sentence);
  }

  // The file as an object; says why not and returns null otherwise.
  json read_object(const char* file) {
    try {
      const Parsed parsed = parse(read_file(path(file)));
      if (parsed.value.is_object()) return parsed.value;
      damage(fmt::format("{} {}.", file, parsed.fault.empty() ? "is not a JSON object" : parsed.fault));
    } catch (const Error&) {
      damage(fmt::format("{} can't be read.", file));
    }
    return nullptr;
  }

  void read_config() {
    if (!std::filesystem::exists(path("config.json")))
      return damage("config.json is missing: what was asked is unknown.");
    const json config = read_object("config.json");
    if (config.is_null()) return;
    std::vector<std::string> words;
    for (const json& word : config.value("command", json::array())) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
    if (!words.empty()) record_.command = shell_command(words);
    const json options = config.value("options", json());
    if (options.is_object()) {
      take_network(options);
    } else if (config.contains("solver")) {
      take_linear(config);
    } else {
      damage("config.json describes no training that this program knows.");
    }
  }

  void take_network(const json& options) {
    record_.kind = RecordKind::network;
    record_.data = text_of(options, "data");
    record_.model = text_of(options, "network");
    record_.optimizer = text_of(options, "optimizer");
    record_.policy = text_of(options, "policy");
    record_.protocol = text_of(options, "protocol");
    record_.rate = number_of(options, "rate", 0);
    record_.decay = number_of(options, "decay", 0);
    record_.seed = static_cast<std::uint64_t>(whole_of(options, "seed"));
    record_.epochs_asked = whole_of(options, "epochs");
    record_.threads = number_of(options, "threads", 0);
  }

  void take_linear(const json& setting) {
    record_.kind = RecordKind::linear;
    record_.data = text_of(setting, "data");
    record_.model = text_of(setting, "model");
    record_.optimizer = text_of(setting, "solver");
    record_.protocol = text_of(setting, "rate");
    record_.seed = static_cast<std::uint64_t>(whole_of(setting, "seed"));
  }

  void read_metrics() {
    std::string content;
    try {
      content = read_file(path("metrics.jsonl"));
    } catch (const Error&) {
      return damage("metrics.jsonl is missing or can't be read: there are no measurements.");
    }
    std::size_t rows = 0, number = 0, bad = 0, first_bad = 0;
    for (std::size_t begin = 0; begin < content.size();) {
      const std::size_t end = content.find('\n', begin);
      const bool whole = end != std::string::npos;
      const std::string_view line = std::string_view(content).substr(begin, whole ? end - begin : std::string::npos);
      begin = whole ? end + 1 : content.size();
      ++number;
      const Parsed parsed = parse(line);
      if (parsed.value.is_object()) {
        rows += add_line(parsed.value, rows) ? 1 : 0;
      } else if (!whole) {
        cut(fmt::format("metrics.jsonl ends in the middle of line {}; what stands before it is shown.", number));
      } else {
        first_bad = bad++ == 0 ? number : first_bad;
      }
    }
    if (bad > 0) {
      damage(fmt::format("{} of metrics.jsonl can't be read, the first is line {}; the others are shown.",
                         counted(bad, "line"), first_bad));
    }
    if (rows == 0) cut("metrics.jsonl has no measurement yet.");
  }

  // Lines of single steps are for those who look at the file; the page shows epochs.
  bool add_line(const json& line, std::size_t rows) {
    if (line.contains("kind") && text_of(line, "kind") != "epoch") return false;
    if (!line.contains("epoch")) return false;
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [column, value] : line.items()) {
      if (!value.is_number() && !value.is_null()) continue;
      std::vector<double>& curve = record_.curves[column];
      curve.resize(rows, nothing);
      curve.push_back(value.is_number() ? value.get<double>() : nothing);
    }
    for (auto& [column, curve] : record_.curves) curve.resize(rows + 1, nothing);
    return true;
  }

  std::string failure() const {
    try {
      const std::string text = read_file(path(run::kFailureFile));
      return text.substr(0, text.find_last_not_of('\n') + 1);
    } catch (const Error&) {
      return std::string(run::kFailureFile) + " can't be read";
    }
  }

  double seconds_of_epochs() const {
    double sum = 0;
    for (const char* column : {"train_seconds", "measure_seconds", "validate_seconds"}) {
      for (const double seconds : record_.curve(column)) sum += std::isfinite(seconds) ? seconds : 0;
    }
    return sum;
  }

  void read_summary() {
    if (std::filesystem::exists(path(run::kFailureFile))) return cut("The training failed: " + failure());
    if (!std::filesystem::exists(path("summary.json"))) {
      const std::vector<double>& epochs = record_.curve("epoch");
      const std::string last =
          epochs.empty() ? "before its first epoch ended" : fmt::format("after epoch {}", epochs.back());
      const std::string of = record_.epochs_asked > 0 ? fmt::format(" of {}", record_.epochs_asked) : "";
      return cut(
          fmt::format("summary.json is missing: the run goes on, or ended {}{}.", last, epochs.empty() ? "" : of));
    }
    const json summary = read_object("summary.json");
    if (summary.is_null()) return;
    record_.stopped = text_of(summary, record_.kind == RecordKind::network ? "stopped" : "stop");
    // Of a run that was resumed the summary knows the last part only.
    record_.seconds = std::max(number_of(summary, "seconds", 0), seconds_of_epochs());
    // The curve of a long fit has gaps: its last point need not be the end.
    record_.epochs_done = std::max(record_.epochs_done, whole_of(summary, "epochs"));
    if (record_.kind == RecordKind::linear) record_.last_loss = number_of(summary, "loss", record_.last_loss);
    if (summary.contains("epochs") && record_.epochs_asked > whole_of(summary, "epochs")) {
      cut(fmt::format("The run ended after {} of {}: {}.", whole_of(summary, "epochs"),
                      counted(record_.epochs_asked, "epoch"), record_.stopped));
    }
  }

  RunRecord record_;
};

}  // namespace

std::string to_string(RecordState state) {
  switch (state) {
    case RecordState::complete:
      return "complete";
    case RecordState::cut_short:
      return "cut short";
    case RecordState::damaged:
      return "damaged";
    case RecordState::missing:
      break;
  }
  return "missing";
}

std::string RunRecord::name() const {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

std::size_t RunRecord::length() const { return curve("epoch").size(); }

const std::vector<double>& RunRecord::curve(const std::string& column) const {
  static const std::vector<double> none;
  const auto found = curves.find(column);
  return found == curves.end() ? none : found->second;
}

RunRecord read_run_record(const std::string& folder) { return Reader(folder).read(); }

std::string shell_command(const std::vector<std::string>& words) { return "lipschitzlr " + shell_words(words); }

}  // namespace lipschitzlr::report
