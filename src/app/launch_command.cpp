#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/commands.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/launch.hpp"

namespace lipschitzlr::app {
namespace {

void check_words(const std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "train" && words[0] != "fit")) {
    throw Error(Fault::usage, fmt::format("launch starts train or fit{}: lipschitzlr launch -n 2 -- train --data mnist",
                                          words.empty() ? "" : ", not " + words[0]));
  }
  if (std::find(words.begin(), words.end(), "-") != words.end()) {
    throw Error(Fault::usage, "several processes can't read standard input (-); give the file's name");
  }
}

}  // namespace

Command launch_command() {
  const auto options = std::make_shared<dist::LaunchOptions>();
  return {
      .name = "launch",
      .summary = "Start train or fit as several processes that compute together",
      .options = {{"command", &options->words, "after --, train or fit with all its options", run::Flags{"COMMAND"}},
                  {"processes", &options->processes, "how many", run::between(1, 4096), run::Flags{"-n,--processes"}},
                  {"timeout", &options->timeout,
                   "a process that keeps the others waiting for longer is considered lost", run::Placeholder{"SECONDS"},
                   run::above(0)},
                  {"address", &options->address,
                   "address of this machine at which rank 0 listens; no other machine reaches 127.0.0.1",
                   run::Placeholder{"ADDRESS"}},
                  {"port", &options->port, "port of that address; 0: a free one", run::between(0, 65535)}},
      .run =
          [options](const Call&) {
            check_words(options->words);
            options->program = std::filesystem::read_symlink("/proc/self/exe").string();
            return dist::launch(*options);
          },
      .details =
          "Rank 0 prints as if it were alone; what the others print goes to standard error, each line with its rank\n"
          "before it. The first process that fails ends all; its exit code is that of launch. Ctrl-C reaches every\n"
          "process. Each process takes its share of the cores unless --threads is given. Several machines:\n"
          "docs/distributed.md.",
      .examples =
          "launch -n 2 -- train --data mnist\n"
          "launch -n 4 --timeout 20 -- fit prices.csv --target price -o model.json"};
}

}  // namespace lipschitzlr::app
