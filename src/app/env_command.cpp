#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/torch_part.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::app {

void add_env_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("env", "Show what this program computes with: kernels, threads, folders");
  struct Options {
    bool torch = false, json = false;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--torch", options->torch, "the same of the libtorch part, which takes half a second to start");
  add_json_option(*command, options->json);
  command->footer("Example:\n  lipschitzlr env --json");
  command->callback([options] {
    if (options->torch) {
      start_torch_part(options->json ? std::vector<std::string>{"env", "--json"} : std::vector<std::string>{"env"});
    }
    const std::string torch_part = find_torch_part();
    const nlohmann::ordered_json facts = {{"version", LIPSCHITZLR_VERSION},
                                          {"kernels", linear::kernel_isa()},
                                          {"cores", std::thread::hardware_concurrency()},
                                          {"data", shown_cache_folder()},
                                          {"torch_part", torch_part.empty() ? "not built" : torch_part}};
    if (options->json) {
      fmt::print("{}\n", facts.dump(2));
      return;
    }
    for (const auto& [name, value] : facts.items()) {
      fmt::print("{:<11} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  });
}

}  // namespace lipschitzlr::app
