// Any bytes as the file of `train --config` or `fit --config` (by the first byte): refused with an Error, or options
// that are in their ranges and that a record keeps.

#include <cstdint>
#include <cstdlib>

#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "lipschitzlr/base/error.hpp"
#include "run/option_json.hpp"
#include "scratch.hpp"

namespace {

using namespace lipschitzlr;

void check_train(const run::TrainRequest& request) {
  run::TrainRequest seen = request, again;
  check(options_of(seen));
  read_json(options_of(again), to_json(options_of(seen)), "again");
  for (const run::Difference& difference : differences(options_of(seen.options), options_of(again.options))) {
    // JSON holds texts in UTF-8 only; to_json() has replaced the other bytes.
    if (!std::holds_alternative<std::string>(difference.one)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Scratch scratch;
  if (size == 0) return 0;
  const std::string path = scratch.write("config.toml", {reinterpret_cast<const char*>(bytes) + 1, size - 1});
  app::Command program{.name = "lipschitzlr", .summary = ""};
  const bool fits = (bytes[0] & 1) != 0;
  program.commands.push_back(fits ? app::fit_command() : app::train_command([](const run::TrainRequest& request, bool) {
    return check_train(request), 0;
  }));
  const auto run = program.commands[0].run;  // owns what the options set
  if (fits) program.commands[0].run = [](const app::Call&) { return 0; };
  try {
    run_command(program, {fits ? "fit" : "train", "--config", path});
  } catch (const Error&) {
  }
  return 0;
}
