// The program lipschitzlr-torch: the commands that need libtorch, which takes half a second to load. The front command
// starts it only for those.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/communicator.hpp"
#include "app/torch_commands.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/memory.hpp"
#include "lipschitzlr/nn/process.hpp"

namespace {

using namespace lipschitzlr;

int run_words(const std::vector<std::string>& words);

// Each line of the file is a command, a JSON list of its words: libtorch is loaded once for all. For tests.
app::Command each_command() {
  const auto file = std::make_shared<std::string>();
  return {.name = "each",
          .summary = "Run the commands in a file",
          .options = {{"file", file.get(), "a JSON list of words per line", run::Flags{"FILE"}, run::kRequired}},
          .run =
              [file](const app::Call&) {
                std::istringstream lines(read_file(*file));
                int code = 0;
                for (std::string line; code == 0 && std::getline(lines, line);) {
                  code = run_words(nlohmann::json::parse(line).get<std::vector<std::string>>());
                }
                return code;
              },
          .hidden = true};
}

// Of weights on images, or of a run on rows.
app::Command evaluate_command(const std::vector<std::string>& words) {
  const bool weights = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--weights" || word.starts_with("--weights=");
  });
  const bool run = std::any_of(words.begin(), words.end(), run::is_run_folder);
  return run && !weights ? app::evaluate_command(run::network_scores) : app::network_evaluate_command();
}

int run_words(const std::vector<std::string>& words) {
  const app::Command program = {
      .name = "lipschitzlr",
      .summary = "The part of lipschitzlr that needs libtorch",
      .commands = {app::network_train_command(), evaluate_command(words), app::predict_command(run::network_scores),
                   app::probe_command(), app::fit_command(app::join_communicator), app::torch_env_command(),
                   each_command()}};
  return app::run_command(program, words);
}

}  // namespace

int main(int count, char** arguments) {
  open_standard_streams();
  keep_memory();
  const auto unexpected = [](const std::exception& error) {
    print_stderr("lipschitzlr: libtorch: {}\n", nn::libtorch_complaint(error));
    return static_cast<int>(Fault::training);
  };
  return app::exit_code_of(
      [&] {
        nn::use_cores();
        return run_words({arguments + 1, arguments + count});
      },
      unexpected);
}
