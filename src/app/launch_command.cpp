#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/commands.hpp"
#include "app/options.hpp"
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

void add_launch_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("launch", "Start train or fit as several processes that compute together");
  auto options = std::make_shared<dist::LaunchOptions>();
  command->add_option("COMMAND", options->words, "after --, train or fit with all its options")->type_name("...");
  expect_whole(command->add_option("-n,--processes", options->processes, "how many; default: 2"), 1, 4096);
  expect_positive(
      command->add_option("--timeout", options->timeout,
                          "seconds a process may keep the others waiting before they consider it lost; default: 60"));
  command
      ->add_option(
          "--address", options->address,
          "address of this machine at which rank 0 listens; default: 127.0.0.1, which no other machine reaches")
      ->type_name("ADDRESS");
  expect_whole(command->add_option("--port", options->port, "port of that address; default: a free one"), 1, 65535);
  fold_help(*command);
  command->footer(
      "Rank 0 prints as if it were alone; what the others print goes to standard error, each line with its rank before "
      "it.\n"
      "The first process that fails ends all; its exit code is that of launch. Ctrl-C reaches every process.\n"
      "Each process takes its share of the cores unless --threads is given. Several machines: docs/distributed.md.\n"
      "\n"
      "Examples:\n"
      "  lipschitzlr launch -n 2 -- train --data mnist\n"
      "  lipschitzlr launch -n 4 --timeout 20 -- fit prices.csv --target price -o model.json");
  command->callback([options, &exit_code] {
    check_words(options->words);
    options->program = std::filesystem::read_symlink("/proc/self/exe").string();
    exit_code = dist::launch(*options);
  });
}

}  // namespace lipschitzlr::app
