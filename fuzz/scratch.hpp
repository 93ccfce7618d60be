#pragma once
// For readers that take the path of a file: a folder of this process in memory, gone with it.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lipschitzlr {

class Scratch {
 public:
  Scratch() : folder_(std::filesystem::path("/dev/shm") / ("lipschitzlr-fuzz-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name = "") const { return folder_ / name; }

  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace lipschitzlr
