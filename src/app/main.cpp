// The front command. It never loads libtorch: commands that need it start an executable of their own.

#include <fmt/format.h>

#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/torch_part.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/memory.hpp"

namespace {

namespace app = lipschitzlr::app;

constexpr int kUnexpected = 70;

int run(const std::vector<std::string>& words) {
  if (app::needs_torch_part(words)) app::start_torch_part(words);
  return app::run_command(app::front_program(), words);
}

int unexpected(const std::exception& error) {
  lipschitzlr::print_stderr("lipschitzlr: unexpected: {}; please report this with the command that made it\n",
                            error.what());
  return kUnexpected;
}

}  // namespace

int main(int count, char** arguments) {
  lipschitzlr::open_standard_streams();
  lipschitzlr::keep_memory();
  return app::exit_code_of([&] { return run({arguments + 1, arguments + count}); }, unexpected);
}
