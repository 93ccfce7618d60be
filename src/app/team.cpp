#include "app/team.hpp"

#include <ATen/Version.h>

#include "lipschitzlr/base/agreement.hpp"
#include "lipschitzlr/data/checksum.hpp"
#include "lipschitzlr/dist/connect.hpp"

namespace lipschitzlr::app {
namespace {

// What the library that was loaded says of itself, its version among it; not what the processor makes of it, because
// unlike machines may work together.
std::string libtorch_build() {
  const std::string text = at::show_config();
  const std::size_t start = text.find("Build settings");
  return start == std::string::npos ? text : text.substr(start);
}

}  // namespace

std::unique_ptr<Team> join_team() {
  const std::optional<dist::Surroundings> found = dist::surroundings();
  if (!found || found->size == 1) return nullptr;
  std::unique_ptr<Team> team = dist::connect(*found);
  // The program itself, not only its version: another build may round otherwise.
  expect_same(*team, "program", data::sha256_of_file("/proc/self/exe"));
  expect_same(*team, "libtorch", libtorch_build());
  return team;
}

}  // namespace lipschitzlr::app
