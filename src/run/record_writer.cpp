#include "run/record_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/run/record.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

// Names of files may be any bytes: what is not UTF-8 is replaced.
std::string to_text(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// "-o /home/me/runs/a" becomes "-o a".
std::string without_machine(const std::string& word, const std::string& folder) {
  if (!fs::path(folder).is_absolute() || (word != folder && !word.ends_with("=" + folder))) return word;
  return word.substr(0, word.size() - folder.size()) + folder_name(folder);
}

}  // namespace

RecordWriter::RecordWriter(const std::string& folder, const ordered_json& config) : RecordWriter(folder) {
  require_no_record(folder);
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw Error(Fault::data, fmt::format("{}: can't make the folder: {}", folder, failure.message()));
  ordered_json written = {{"version", kRecordVersion}};
  written.update(config);
  for (ordered_json& word : written["command"]) word = without_machine(word.get<std::string>(), folder);
  // Another run may have taken the folder since it was looked at: the file decides whose it is.
  if (!write_new_file(folder + "/config.json", to_text(written, 2))) require_no_record(folder);
  write_file_atomically(folder + "/metrics.jsonl", "");
  open_metrics();
}

RecordWriter RecordWriter::reopen(const std::string& folder, std::int64_t lines) {
  const std::string path = folder + "/metrics.jsonl";
  const std::string content = read_file(path);
  std::size_t end = 0;
  for (std::int64_t line = 0; line < lines; ++line) {
    end = content.find('\n', end) + 1;
    if (end == 0) throw Error(Fault::data, fmt::format("{}: has {} lines, the checkpoint knows {}", path, line, lines));
  }
  write_file_atomically(path, std::string_view(content).substr(0, end));
  std::error_code ignored;
  fs::remove(folder + "/summary.json", ignored);
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().extension() == ".part") fs::remove(file.path(), ignored);
  }
  RecordWriter record(folder);
  record.lines_ = lines;
  record.open_metrics();
  return record;
}

void RecordWriter::open_metrics() {
  const std::string path = folder_ + "/metrics.jsonl";
  metrics_.reset(std::fopen(path.c_str(), "ae"));
  if (!metrics_) throw Error(Fault::data, fmt::format("{}: can't write: {}", path, std::strerror(errno)));
}

void RecordWriter::add(const linear::Progress& now) {
  if (now.epoch < next_) return;
  next_ = now.epoch + std::max<std::int64_t>(1, now.epoch / 100 - 9);
  ordered_json line = {{"epoch", now.epoch},
                       {"step", now.step},
                       {"loss", now.loss},
                       {"gradient_norm", now.gradient_norm},
                       {"weight_norm", now.weight_norm},
                       {"rate", now.rate},
                       {"seconds", now.seconds}};
  if (now.held_out_loss) line["held_out_loss"] = *now.held_out_loss;
  write(line);
}

void RecordWriter::write(const ordered_json& line) {
  // A full disk must not end the training: flush() asks how it went.
  std::fputs(to_text(line, -1).c_str(), metrics_.get());
  ++lines_;
}

void RecordWriter::flush() {
  if (std::fflush(metrics_.get()) != 0 || std::ferror(metrics_.get()) != 0) {
    throw Error(Fault::data, fmt::format("{}/metrics.jsonl: can't write: {}", folder_, std::strerror(errno)));
  }
}

void RecordWriter::finish(ordered_json summary) {
  flush();
  if (summary.contains("folder")) summary["folder"] = without_machine(folder_, folder_);
  write_file_atomically(folder_ + "/summary.json", to_text(summary, 2));
}

}  // namespace lipschitzlr::run
