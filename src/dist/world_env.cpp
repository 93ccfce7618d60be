#include "lipschitzlr/dist/world_env.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "base/numbers.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::dist {
namespace {

// The variables that a launcher sets in every process.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;  // as many as size when all processes are on one machine
};

// A batch script of Slurm has SLURM_PROCID and SLURM_NTASKS too, but runs alone: only srun sets SLURM_STEP_*.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};

const char* value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

int whole(const char* name, int least, int most) {
  const char* text = value_of(name);
  if (text == nullptr) throw Error(Fault::usage, fmt::format("the variable {} is not set", name));
  const auto value = number_from<int>(text);
  if (value && *value >= least && *value <= most) return *value;
  throw Error(Fault::usage,
              fmt::format("the variable {} is {}: expected a whole number from {} to {}", name, text, least, most));
}

double seconds(const char* name, double otherwise) {
  const char* text = value_of(name);
  if (text == nullptr) return otherwise;
  if (const auto value = number_from(text); value && *value > 0) return *value;
  throw Error(Fault::usage, fmt::format("the variable {} is {}: expected seconds, more than 0", name, text));
}

// torchrun without --standalone has a store of its own at the port it announces: we take the next one.
int choose_port() {
  const int port = value_of("MASTER_PORT") == nullptr ? kDefaultPort : whole("MASTER_PORT", 1, 65535);
  const char* held = value_of("TORCHELASTIC_USE_AGENT_STORE");
  return held != nullptr && std::strcmp(held, "True") == 0 ? port % 65535 + 1 : port;
}

// Without an address all processes must be on this machine; when the launcher says that they are not, one must be
// given.
std::string choose_address(const Launcher& launcher, const std::string& size) {
  if (const char* address = value_of("MASTER_ADDR")) return address;
  const char* here = value_of(launcher.local_size);
  if (here != nullptr && here != size) {
    throw Error(
        Fault::usage,
        "the processes are on several machines: set the variable MASTER_ADDR to the address of the one with rank 0");
  }
  return WorldEnv().address;
}

}  // namespace

std::optional<WorldEnv> world_env() {
  constexpr int kMostProcesses = 65536;
  for (const Launcher& launcher : kLaunchers) {
    const bool ranked = value_of(launcher.rank) != nullptr, sized = value_of(launcher.size) != nullptr;
    // RANK and WORLD_SIZE are set by hand too, where one without the other is a mistake.
    if (!(&launcher == kLaunchers ? ranked || sized : ranked && sized)) continue;
    WorldEnv found;
    found.size = whole(launcher.size, 1, kMostProcesses);
    found.rank = whole(launcher.rank, 0, found.size - 1);
    found.local_rank =
        value_of(launcher.local_rank) == nullptr ? found.rank : whole(launcher.local_rank, 0, found.size - 1);
    found.address = choose_address(launcher, std::to_string(found.size));
    found.port = choose_port();
    if (const char* token = value_of(kTokenVariable)) found.token = token;
    found.timeout = seconds(kTimeoutVariable, found.timeout);
    return found;
  }
  return std::nullopt;
}

}  // namespace lipschitzlr::dist
