// The program lipschitzlr-torch: the commands that need libtorch, which takes half a second to load. The front command
// starts it only for those.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commands.hpp"
#include "app/communicator.hpp"
#include "app/torch_commands.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/nn/process.hpp"

namespace {

using lipschitzlr::nn::ProcessFacts;

void print_json(const ProcessFacts& facts) {
  const nlohmann::ordered_json json = {
      {"libtorch", facts.libtorch_version}, {"threads", facts.threads},         {"cores", facts.cores},
      {"parallel", facts.parallel_backend}, {"wait_policy", facts.wait_policy}, {"blas", facts.blas},
      {"blas_threads", facts.blas_threads},
  };
  fmt::print("{}\n", json.dump(2));
}

void print_text(const ProcessFacts& facts) {
  fmt::print("libtorch     {}\n", facts.libtorch_version);
  fmt::print("threads      {} on {} cores\n", facts.threads, facts.cores);
  fmt::print("parallel by  {}, wait policy {}\n", facts.parallel_backend,
             facts.wait_policy.empty() ? "not set" : facts.wait_policy);
  fmt::print("BLAS         {}\n", facts.blas);
  if (facts.blas_threads > 0) fmt::print("its threads  {}\n", facts.blas_threads);
}

int run(const std::vector<std::string>& words);

// Each line of the file is a command, a JSON list of its words: libtorch is loaded once for all.
int run_each(const std::string& path) {
  std::istringstream lines(lipschitzlr::read_file(path));
  int exit_code = 0;
  for (std::string line; exit_code == 0 && std::getline(lines, line);) {
    exit_code = run(nlohmann::json::parse(line).get<std::vector<std::string>>());
  }
  return exit_code;
}

int run(const std::vector<std::string>& words) {
  CLI::App app("The part of lipschitzlr that needs libtorch", "lipschitzlr");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int exit_code = 0;
  lipschitzlr::app::add_train_command(app, words, exit_code);
  lipschitzlr::app::add_network_evaluate_command(app);
  lipschitzlr::app::add_probe_command(app);
  lipschitzlr::app::add_fit_command(app, words, exit_code, lipschitzlr::app::join_communicator);
  bool as_json = false;
  CLI::App* env = app.add_subcommand("env", "What libtorch computes with: version, threads, BLAS");
  env->add_flag("--json", as_json, "Print JSON");
  env->callback([&] {
    const ProcessFacts facts = lipschitzlr::nn::process_facts();
    as_json ? print_json(facts) : print_text(facts);
  });
  std::string file;
  CLI::App* each = app.add_subcommand("each", "Run the commands in a file")->group("");  // for tests
  each->add_option("FILE", file, "a JSON list of words per line")->required();
  each->callback([&] { exit_code = run_each(file); });
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw lipschitzlr::Error(lipschitzlr::Fault::usage, error.what());
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  lipschitzlr::nn::keep_memory();
  try {
    lipschitzlr::nn::use_cores();
    return run({argv + 1, argv + argc});
  } catch (const lipschitzlr::Error& error) {
    fmt::print(stderr, "lipschitzlr: {}\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "lipschitzlr: libtorch: {}\n", lipschitzlr::nn::libtorch_complaint(error));
    return static_cast<int>(lipschitzlr::Fault::training);
  }
}
