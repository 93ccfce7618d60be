#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands.hpp"
#include "app/show.hpp"
#include "app/torch_part.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::app {

Command env_command() {
  struct State {
    bool torch = false, json = false;
  };
  const auto state = std::make_shared<State>();
  return {.name = "env",
          .summary = "Show what this program computes with: kernels, threads, folders",
          .options = {{"torch", &state->torch, "the same of the libtorch part, which takes half a second"},
                      run::json_option(state->json)},
          .run =
              [state](const Call&) {
                if (state->torch) {
                  start_torch_part(state->json ? std::vector<std::string>{"env", "--json"}
                                               : std::vector<std::string>{"env"});
                }
                const std::string torch_part = find_torch_part();
                const nlohmann::ordered_json facts = {{"version", LIPSCHITZLR_VERSION},
                                                      {"kernels", linear::kernel_isa()},
                                                      {"cores", std::thread::hardware_concurrency()},
                                                      {"data", shown_cache_folder()},
                                                      {"torch_part", torch_part.empty() ? "not built" : torch_part}};
                if (state->json) fmt::print("{}\n", facts.dump(2));
                for (const auto& [name, value] : facts.items()) {
                  if (!state->json)
                    fmt::print("{:<11} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
                }
                return 0;
              },
          .examples = "env --json"};
}

}  // namespace lipschitzlr::app
