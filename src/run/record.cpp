#include "lipschitzlr/run/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::run {

Record::Record(const std::string& folder, const std::string& config_json)
    : folder_(folder), metrics_(nullptr, std::fclose) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(Fault::data, fmt::format("{}: can't make the folder: {}", folder, failure.message()));
  if (std::filesystem::exists(folder + "/config.json")) {
    throw Error(Fault::data, fmt::format("{}: there is a record in this folder already; name another one", folder));
  }
  write_file_atomically(folder + "/config.json", config_json + "\n");
  const std::string path = folder + "/metrics.jsonl";
  metrics_.reset(std::fopen(path.c_str(), "we"));
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
  // A full disk must not end the training: finish() asks how it went.
  std::fputs((entry.dump() + "\n").c_str(), metrics_.get());
}

void Record::finish(const std::string& summary_json) {
  if (std::fflush(metrics_.get()) != 0 || std::ferror(metrics_.get()) != 0) {
    throw Error(Fault::data, fmt::format("{}/metrics.jsonl: can't write: {}", folder_, std::strerror(errno)));
  }
  write_file_atomically(folder_ + "/summary.json", summary_json + "\n");
}

}  // namespace lipschitzlr::run
