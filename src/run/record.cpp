#include "lipschitzlr/run/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "run/fit_answers.hpp"
#include "run/record_writer.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// 0 when it is too large to count.
std::int64_t whole(double number) { return std::abs(number) < 1e15 ? static_cast<std::int64_t>(number) : 0; }

// A list or an object is no option of this program: the same as nothing.
std::string option_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.is_primitive() && !value.is_null() ? value.dump() : "";
}

json parse_line(std::string_view text) {
  try {
    return parse_json(text, "");
  } catch (const Error&) {
    return json::value_t::discarded;
  }
}

double seconds_of_epochs(const Record& record) {
  double sum = 0;
  for (const char* column : {"train_seconds", "measure_seconds", "validate_seconds"}) {
    for (const double seconds : record.column(column)) sum += std::isfinite(seconds) ? seconds : 0;
  }
  return sum;
}

class Reader {
 public:
  explicit Reader(const std::string& folder) { record_.folder = folder; }

  Record read() {
    if (!fs::is_directory(record_.folder)) {
      record_.state = RecordState::missing;
      record_.faults.push_back("There is no such folder.");
      return record_;
    }
    read_config();
    read_metrics();
    const std::vector<double>& epochs = record_.column("epoch");
    if (!epochs.empty()) record_.epochs_done = whole(epochs.back());
    const std::vector<double>& loss = record_.column("loss");
    record_.last_loss = loss.empty() ? NAN : loss.back();
    record_.seconds = seconds_of_epochs(record_);
    read_end();
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
      json object = parse_json(read_file(path(file)), "");
      if (object.is_object()) return object;
      damage(fmt::format("{} is not a JSON object.", file));
    } catch (const Error& error) {
      const bool unreadable = std::string_view(error.what()).starts_with(path(file));
      damage(fmt::format("{} {}.", file, unreadable ? "can't be read" : error.what()));
    }
    return nullptr;
  }

  void read_config() {
    if (!fs::exists(path("config.json"))) return damage("config.json is missing: what was asked is unknown.");
    const json config = read_object("config.json");
    if (config.is_null()) return;
    if (whole_or(config, "version", 0) > kRecordVersion) {
      record_.faults.push_back("A newer version of this program wrote the record: what it adds is not shown.");
    }
    for (const json& word : config.value("command", json::array())) {
      if (word.is_string()) record_.command.push_back(word.get<std::string>());
    }
    // Older fits have their options at the top.
    const json options = config.value("options", config.contains("solver") ? config : json());
    const std::string kind = text_or(config, "kind", config.contains("solver") ? kFit : kNetworkTraining);
    if (!options.is_object() || (kind != kFit && kind != kNetworkTraining)) {
      return damage("config.json describes no training that this program knows.");
    }
    record_.kind = kind == kFit ? RecordKind::linear : RecordKind::network;
    for (const auto& [name, value] : options.items()) record_.options[name] = option_text(value);
  }

  void read_metrics() {
    std::string content;
    try {
      content = read_file(path("metrics.jsonl"));
    } catch (const Error&) {
      return damage("metrics.jsonl is missing or can't be read: there are no measurements.");
    }
    std::size_t number = 0, bad = 0, first_bad = 0;
    for (std::size_t begin = 0, end; begin < content.size(); begin = end + 1) {
      end = std::min(content.find('\n', begin), content.size());
      ++number;
      const json line = parse_line(std::string_view(content).substr(begin, end - begin));
      if (line.is_discarded() && end == content.size()) {
        cut(fmt::format("metrics.jsonl ends in the middle of line {}; what stands before it is shown.", number));
      } else if (!add_line(line)) {
        first_bad = bad++ == 0 ? number : first_bad;
      }
    }
    if (bad > 0) {
      damage(fmt::format("{} of metrics.jsonl can't be read, the first is line {}; the others are shown.",
                         counted(bad, "line"), first_bad));
    }
    if (record_.length() == 0) cut("metrics.jsonl has no measurement yet.");
  }

  // False for a line that is not a measurement. Those of single steps are passed over.
  bool add_line(const json& line) {
    if (!line.is_object()) return false;
    if (text_or(line, "kind", "epoch") != "epoch") return true;
    if (!line.contains("epoch") || !line["epoch"].is_number()) return false;
    const std::size_t rows = record_.length();
    for (const auto& [name, value] : line.items()) {
      if (!value.is_number() && !value.is_null()) continue;
      std::vector<double>& column = record_.columns[name];
      column.resize(rows, NAN);
      column.push_back(value.is_number() ? value.get<double>() : NAN);
    }
    for (auto& [name, column] : record_.columns) column.resize(rows + 1, NAN);
    return true;
  }

  // How the run ended, if it did.
  void read_end() {
    if (fs::exists(path(kFailureFile))) {
      try {
        record_.failure = read_file(path(kFailureFile));
        record_.failure.erase(record_.failure.find_last_not_of('\n') + 1);
      } catch (const Error&) {
        record_.failure = std::string(kFailureFile) + " can't be read";
      }
      return cut("The training failed: " + record_.failure);
    }
    const std::int64_t asked = record_.kind == RecordKind::network ? whole(record_.number("epochs")) : 0;
    if (!fs::exists(path("summary.json"))) {
      const std::string of = asked > 0 ? fmt::format(" of {}", asked) : "";
      return cut("summary.json is missing: the run is going on, or ended " +
                 (record_.length() == 0 ? "before its first epoch ended."
                                        : fmt::format("after epoch {}{}.", record_.epochs_done, of)));
    }
    const json summary = read_object("summary.json");
    if (summary.is_null()) return;
    // Of a run that was resumed the summary knows the last part only.
    record_.seconds = std::max(number_or(summary, "seconds", 0), record_.seconds);
    const std::int64_t done = whole_or(summary, "epochs", 0);
    record_.epochs_done = std::max(record_.epochs_done, done);
    if (record_.kind == RecordKind::linear) {
      record_.last_loss = number_or(summary, "loss", record_.last_loss);
      record_.verdict = text_or(summary, "verdict");
      read_penalty(summary.value("penalty_path", json()));
      if (!read_answers(summary, record_.answers))
        damage("The coefficients or the figures of the test rows in summary.json don't fit.");
    }
    if (summary.contains("epochs") && asked > done) {
      cut(fmt::format("The run ended after {} of {}: {}.", done, counted(asked, "epoch"), text_or(summary, "stopped")));
    }
  }

  void read_penalty(const json& path) {
    if (!path.is_object()) return;
    const auto numbers = [&](const char* name) {
      std::vector<double> column;
      for (const json& value : path.value(name, json::array())) {
        column.push_back(value.is_number() ? value.get<double>() : NAN);
      }
      return column;
    };
    PenaltyCurve curve{numbers("lambda"), numbers("loss"), numbers("standard_error")};
    const std::size_t size = curve.lambda.size();
    if (curve.loss.size() != size || curve.standard_error.size() != size) {
      return damage("The path of penalties in summary.json has columns of different lengths.");
    }
    record_.penalty = std::move(curve);
  }

  Record record_;
};

}  // namespace

std::string to_string(RecordState state) {
  constexpr const char* names[] = {"complete", "cut short", "damaged", "missing"};
  return names[static_cast<int>(state)];
}

std::string Record::name() const { return folder_name(folder); }

std::string Record::option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

double Record::number(const std::string& name) const { return std::strtod(option(name).c_str(), nullptr); }

double Record::epoch_seconds() const {
  return length() == 0 ? 0 : seconds_of_epochs(*this) / static_cast<double>(length());
}

const std::vector<double>& Record::column(const std::string& name) const {
  static const std::vector<double> none;
  const auto found = columns.find(name);
  return found == columns.end() ? none : found->second;
}

Record read_record(const std::string& folder) { return Reader(folder).read(); }

void require_no_record(const std::string& folder) {
  if (folder == "-") throw Error(Fault::usage, "a record is a folder and can't go to standard output (-); name one");
  if (fs::exists(folder + "/config.json")) {
    throw Error(Fault::data, fmt::format("{}: there is a record in this folder already; name another one", folder));
  }
  fs::path there = fs::absolute(folder);
  while (!fs::exists(there)) there = there.parent_path();
  // The dot makes a file in its place an error too.
  if (access((there / ".").c_str(), W_OK) != 0) {
    throw Error(Fault::data, fmt::format("{}: can't make the folder: {}", folder, std::strerror(errno)));
  }
}

std::string folder_name(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

}  // namespace lipschitzlr::run
