#include "lipschitzlr/dist/surroundings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::dist {
namespace {

// Who started us: the variables that this starter sets in every process.
struct Starter {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;  // as many as size when all processes are on one machine
};

// A batch script of Slurm has SLURM_PROCID and SLURM_NTASKS too, but is alone: only srun sets SLURM_STEP_*.
constexpr Starter kStarters[] = {
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
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, failure] = std::from_chars(text, end, value);
  if (failure != std::errc{} || stop != end || value < least || value > most) {
    throw Error(Fault::usage,
                fmt::format("the variable {} is {}: expected a whole number from {} to {}", name, text, least, most));
  }
  return value;
}

double seconds(const char* name, double otherwise) {
  const char* text = value_of(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(value) || value <= 0) {
    throw Error(Fault::usage, fmt::format("the variable {} is {}: expected seconds, more than 0", name, text));
  }
  return value;
}

// torchrun without --standalone keeps a store of its own at the port it hands out: the next one is ours.
int choose_port() {
  const int port = value_of("MASTER_PORT") == nullptr ? kDefaultPort : whole("MASTER_PORT", 1, 65535);
  const char* held = value_of("TORCHELASTIC_USE_AGENT_STORE");
  return held != nullptr && std::strcmp(held, "True") == 0 ? port % 65535 + 1 : port;
}

// Without an address all processes must be on this machine; where the starter tells that they are not, ask for one.
std::string choose_address(const Starter& starter, const std::string& size) {
  if (const char* address = value_of("MASTER_ADDR")) return address;
  const char* here = value_of(starter.local_size);
  if (here != nullptr && here != size) {
    throw Error(
        Fault::usage,
        "the processes are on several machines: set the variable MASTER_ADDR to the address of the one with rank 0");
  }
  return Surroundings().address;
}

}  // namespace

std::optional<Surroundings> surroundings() {
  constexpr int kMostProcesses = 65536;
  for (const Starter& starter : kStarters) {
    const bool ranked = value_of(starter.rank) != nullptr, sized = value_of(starter.size) != nullptr;
    // RANK and WORLD_SIZE are set by hand too, where one without the other is a slip.
    if (!(&starter == kStarters ? ranked || sized : ranked && sized)) continue;
    Surroundings found;
    found.size = whole(starter.size, 1, kMostProcesses);
    found.rank = whole(starter.rank, 0, found.size - 1);
    found.local_rank =
        value_of(starter.local_rank) == nullptr ? found.rank : whole(starter.local_rank, 0, found.size - 1);
    found.address = choose_address(starter, std::to_string(found.size));
    found.port = choose_port();
    if (const char* token = value_of(kTokenVariable)) found.token = token;
    found.timeout = seconds(kTimeoutVariable, found.timeout);
    return found;
  }
  return std::nullopt;
}

}  // namespace lipschitzlr::dist
