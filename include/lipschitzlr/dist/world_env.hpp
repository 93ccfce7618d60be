#pragma once
// Whether this process is one of several that were started together, as its environment says: by `lipschitzlr launch`
// or torchrun (RANK, WORLD_SIZE), by mpirun (OMPI_COMM_WORLD_*, PMI_*) or by Slurm's srun (SLURM_PROCID).

#include <optional>
#include <string>

namespace lipschitzlr::dist {

inline constexpr const char* kTokenVariable = "LIPSCHITZLR_TOKEN";
inline constexpr const char* kTimeoutVariable = "LIPSCHITZLR_TIMEOUT";
inline constexpr int kDefaultPort = 29500;  // torch's

struct WorldEnv {
  int rank = 0;
  int size = 1;
  int local_rank = 0;                 // among those on the same machine
  std::string address = "127.0.0.1";  // of rank 0: MASTER_ADDR
  int port = kDefaultPort;            // MASTER_PORT
  std::string token;                  // LIPSCHITZLR_TOKEN: the same in all, or they refuse one another
  double timeout = 60;                // seconds, LIPSCHITZLR_TIMEOUT: a process that takes longer counts as lost
};

// None when the environment names no rank. Throws Error (usage) that names the variable with an invalid value.
std::optional<WorldEnv> world_env();

}  // namespace lipschitzlr::dist
