#include "lipschitzlr/run/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::run {

Record::Record(const std::string& folder, const std::string& config_json) : Record(folder) {
  expect_room(folder);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(Fault::data, fmt::format("{}: can't make the folder: {}", folder, failure.message()));
  write_file_atomically(folder + "/config.json", config_json + "\n");
  write_file_atomically(folder + "/metrics.jsonl", "");
  open_metrics();
}

void Record::expect_room(const std::string& folder) {
  if (std::filesystem::exists(folder + "/config.json")) {
    throw Error(Fault::data, fmt::format("{}: there is a record in this folder already; name another one", folder));
  }
  std::filesystem::path there = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(there)) there = there.parent_path();
  // The dot makes a file in its place an error too.
  if (access((there / ".").c_str(), W_OK) != 0) {
    throw Error(Fault::data, fmt::format("{}: can't make the folder: {}", folder, std::strerror(errno)));
  }
}

Record Record::reopen(const std::string& folder, std::int64_t lines) {
  const std::string path = folder + "/metrics.jsonl";
  const std::string content = read_file(path);
  std::size_t end = 0;
  for (std::int64_t line = 0; line < lines; ++line) {
    end = content.find('\n', end) + 1;
    if (end == 0) throw Error(Fault::data, fmt::format("{}: has {} lines, the checkpoint knows {}", path, line, lines));
  }
  write_file_atomically(path, std::string_view(content).substr(0, end));
  std::error_code ignored;
  std::filesystem::remove(folder + "/summary.json", ignored);
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
    if (file.path().extension() == ".part") std::filesystem::remove(file.path(), ignored);
  }
  Record record(folder);
  record.lines_ = lines;
  record.open_metrics();
  return record;
}

void Record::open_metrics() {
  const std::string path = folder_ + "/metrics.jsonl";
  metrics_.reset(std::fopen(path.c_str(), "ae"));
  if (!metrics_) throw Error(Fault::data, fmt::format("{}: can't write: {}", path, std::strerror(errno)));
}

void Record::add(const linear::Progress& now) {
  if (now.epoch < next_) return;
  next_ = now.epoch + std::max<std::int64_t>(1, now.epoch / 100 - 9);
  const nlohmann::ordered_json entry = {{"epoch", now.epoch},
                                        {"step", now.step},
                                        {"loss", now.loss},
                                        {"gradient_norm", now.gradient_norm},
                                        {"weight_norm", now.weight_norm},
                                        {"rate", now.rate},
                                        {"seconds", now.seconds}};
  write(entry.dump());
}

void Record::write(const std::string& json_line) {
  // A full disk must not end the training: flush() asks how it went.
  std::fputs((json_line + "\n").c_str(), metrics_.get());
  ++lines_;
}

void Record::flush() {
  if (std::fflush(metrics_.get()) != 0 || std::ferror(metrics_.get()) != 0) {
    throw Error(Fault::data, fmt::format("{}/metrics.jsonl: can't write: {}", folder_, std::strerror(errno)));
  }
}

void Record::finish(const std::string& summary_json) {
  flush();
  write_file_atomically(folder_ + "/summary.json", summary_json + "\n");
}

}  // namespace lipschitzlr::run
