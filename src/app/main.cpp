// The front command. It never loads libtorch: commands that need it start an executable of their own.

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/commands.hpp"
#include "app/torch_part.hpp"
#include "lipschitzlr/base/error.hpp"

namespace {

constexpr int kUsage = static_cast<int>(lipschitzlr::Fault::usage);
constexpr int kUnexpected = 70;

void describe(CLI::App& app) {
  app.name("lipschitzlr");
  app.set_version_flag("--version", "lipschitzlr " LIPSCHITZLR_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  lipschitzlr demo                                  a short tour on embedded data\n"
      "  lipschitzlr rate prices.csv --target price        every constant and the rate it gives\n"
      "  lipschitzlr fit prices.csv --target price -o model.json\n"
      "  lipschitzlr predict model.json new.csv\n"
      "  lipschitzlr train --data mnist                    a network; needs libtorch\n"
      "  lipschitzlr launch -n 2 -- train --data mnist     the same in two processes\n"
      "\n"
      "Exit codes: 0 done, 2 bad use, 3 bad data, 4 training failed, 130 interrupted.\n"
      "`lipschitzlr COMMAND --help` explains a command.");
}

// One line: what is wrong, and where help is.
int complain(const CLI::App& front, const CLI::ParseError& error, int count, char** arguments) {
  std::string path;
  for (const CLI::App* at = &front; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += at->get_name() + " ";
  }
  const bool unknown = path.empty() && count > 1 && arguments[1][0] != '-';
  const std::string reason = unknown ? fmt::format("there is no command {}", arguments[1]) : std::string(error.what());
  fmt::print(stderr, "lipschitzlr: {}; `lipschitzlr {}--help` shows what there is\n", reason, path);
  return kUsage;
}

}  // namespace

int main(int count, char** arguments) {
  namespace app = lipschitzlr::app;
  CLI::App front("Learning rates you compute instead of tune: rate = 1/L, L the Lipschitz constant of the loss.");
  const std::vector<std::string> words(arguments + 1, arguments + count);
  int exit_code = 0;
  describe(front);
  app::add_rate_command(front);
  app::add_fit_command(front, words, exit_code);
  app::add_predict_command(front);
  app::add_evaluate_command(front);
  // For the list of commands only: its words go to the libtorch part as they are.
  front.add_subcommand("train", "Train a network on images with computed rates");
  app::add_launch_command(front, exit_code);
  app::add_data_command(front);
  app::add_reproduce_command(front);
  app::add_report_command(front);
  app::add_demo_command(front);
  app::add_env_command(front);
  try {
    if (app::needs_torch_part(words)) app::start_torch_part(words);
    front.parse(count, arguments);
    if (std::fflush(stdout) != 0) throw lipschitzlr::Error(lipschitzlr::Fault::data, "can't write to standard output");
    return exit_code;
  } catch (const CLI::Success& success) {
    return front.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(front, error, count, arguments);
  } catch (const lipschitzlr::Error& error) {
    fmt::print(stderr, "lipschitzlr: {}\n", error.what());
    return error.exit_code();
  } catch (const std::system_error& error) {
    fmt::print(stderr, "lipschitzlr: can't write: {}\n", error.code().message());
    return static_cast<int>(lipschitzlr::Fault::data);
  } catch (const nlohmann::json::exception&) {
    fmt::print(stderr, "lipschitzlr: a name is not UTF-8, which JSON can't hold; rename it, or leave out --json\n");
    return static_cast<int>(lipschitzlr::Fault::data);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "lipschitzlr: there is not enough memory for this table\n");
    return static_cast<int>(lipschitzlr::Fault::data);
  } catch (const std::exception& error) {
    fmt::print(stderr, "lipschitzlr: unexpected: {}; please report this with the command that made it\n", error.what());
    return kUnexpected;
  }
}
