#include <fmt/format.h>

#include <charconv>

#include "app/options.hpp"
#include "app/torch_commands.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/run/network_probe.hpp"

namespace lipschitzlr::app {
namespace {

// "cifar10:resnet20-v1:128"
run::NetworkSpeed probe(const std::string& word, unsigned threads) {
  const std::size_t first = word.find(':'), second = word.find(':', first + 1);
  Index batch = 0;
  if (second != std::string::npos) std::from_chars(word.data() + second + 1, word.data() + word.size(), batch);
  if (batch < 2) throw Error(Fault::usage, fmt::format("{}: expected DATA:NETWORK:BATCH", word));
  return run::probe_network(word.substr(0, first), word.substr(first + 1, second - first - 1), batch, threads);
}

}  // namespace

void add_probe_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("probe", "Measure how fast networks train here, on noise; prints JSON");
  command->group("");  // for `reproduce`, not for people
  auto words = std::make_shared<std::vector<std::string>>();
  auto threads = std::make_shared<unsigned>(0);
  command->add_option("WHAT", *words, "DATA:NETWORK:BATCH, several")->required();
  add_threads_option(*command, *threads, Bits::differ);
  command->callback([words, threads] {
    std::vector<run::NetworkSpeed> speeds;
    for (const std::string& word : *words) speeds.push_back(probe(word, *threads));
    fmt::print("{}\n", run::to_json(speeds));
  });
}

}  // namespace lipschitzlr::app
