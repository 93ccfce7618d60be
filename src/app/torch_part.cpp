#include "app/torch_part.hpp"

#include <algorithm>
#include <cstdlib>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/world_env.hpp"
#include "lipschitzlr/run/network_table.hpp"

namespace lipschitzlr::app {

namespace {

// The program and its words; also sets what the environment must say before libgomp loads.
std::vector<std::string> command_line(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {find_torch_part()};
  if (words[0].empty()) {
    throw Error(Fault::usage,
                "this build has no libtorch part; build with -DLIPSCHITZLR_TORCH=ON, or use ./lipschitzlr");
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Idle threads that look for work for long take the core another process needs; threads that sleep at once must be
  // woken for every small piece of work. A thousand looks cost neither much (docs/performance.md).
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
  return words;
}

bool is_one_of_several() {
  const auto world = dist::world_env();
  return world && world->size > 1;
}

}  // namespace

void start_torch_part(const std::vector<std::string>& arguments) { become_program(command_line(arguments)); }

int run_torch_part(const std::vector<std::string>& arguments, const std::function<bool()>& stop, std::string* output) {
  const auto what = output != nullptr ? Subprocess::Output::capture : Subprocess::Output::discard;
  return Subprocess(command_line(arguments), what).wait(stop, output);
}

bool needs_torch_part(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const bool weights = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--weights" || word.starts_with("--weights=");
  });
  const bool network = std::any_of(words.begin() + 1, words.end(), run::is_run_folder);
  return words[0] == "train" || (words[0] == "evaluate" && weights) ||
         ((words[0] == "evaluate" || words[0] == "predict") && network) || (words[0] == "fit" && is_one_of_several());
}

}  // namespace lipschitzlr::app
