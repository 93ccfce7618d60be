#include "lipschitzlr/dist/world_env.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::dist {
namespace {

// Sets the variables while it lives; none of those that a launcher sets is there otherwise.
class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) unsetenv(name.c_str());
  }

 private:
  std::map<std::string, std::string> values_;
};

std::string complaint() {
  try {
    world_env();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "";
}

TEST(WorldEnv, IsNoneInAPlainShell) { EXPECT_FALSE(world_env()); }

TEST(WorldEnv, IsReadFromTorchsVariables) {
  const Variables set({{"RANK", "2"},
                       {"WORLD_SIZE", "4"},
                       {"LOCAL_RANK", "0"},
                       {"MASTER_ADDR", "10.1.2.3"},
                       {"MASTER_PORT", "1234"},
                       {"LIPSCHITZLR_TOKEN", "secret"},
                       {"LIPSCHITZLR_TIMEOUT", "2.5"}});
  const WorldEnv found = world_env().value();
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.size, 4);
  EXPECT_EQ(found.local_rank, 0);
  EXPECT_EQ(found.address, "10.1.2.3");
  EXPECT_EQ(found.port, 1234);
  EXPECT_EQ(found.token, "secret");
  EXPECT_EQ(found.timeout, 2.5);
}

TEST(WorldEnv, StaysOnThisMachineUnlessAnAddressIsGiven) {
  const Variables set({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  const WorldEnv found = world_env().value();
  EXPECT_EQ(found.address, "127.0.0.1");
  EXPECT_EQ(found.port, 29500);
  EXPECT_EQ(found.timeout, 60);
  EXPECT_EQ(found.token, "");
}

TEST(WorldEnv, IsReadFromMpirunSlurmAndPmi) {
  {
    const Variables set(
        {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "5"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
    EXPECT_EQ(world_env()->rank, 3);
    EXPECT_EQ(world_env()->size, 5);
    EXPECT_EQ(world_env()->local_rank, 1);
  }
  {
    const Variables set({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}, {"SLURM_LOCALID", "0"}});
    EXPECT_EQ(world_env()->size, 3);
  }
  const Variables set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(world_env()->rank, 1);
}

TEST(WorldEnv, OfABatchScriptOfSlurmIsNone) {
  const Variables set({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}});
  EXPECT_FALSE(world_env());
}

TEST(WorldEnv, LeavesTorchrunsOwnPortAlone) {
  const Variables set(
      {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(world_env()->port, 29501);
}

TEST(WorldEnv, AsksForAnAddressWhenTheProcessesAreOnSeveralMachines) {
  const Variables set(
      {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_NE(complaint().find("MASTER_ADDR"), std::string::npos);
}

TEST(WorldEnv, NamesTheInvalidVariable) {
  const std::map<std::string, std::string> good = {{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  const std::map<std::string, std::string> bad[] = {
      {{"RANK", "2"}},
      {{"RANK", "-1"}},
      {{"RANK", "one"}},
      {{"RANK", ""}},
      {{"WORLD_SIZE", "0"}},
      {{"WORLD_SIZE", "2x"}},
      {{"WORLD_SIZE", ""}},
      {{"MASTER_PORT", "0"}},
      {{"MASTER_PORT", "65536"}},
      {{"LOCAL_RANK", "7"}},
      {{"LIPSCHITZLR_TIMEOUT", "0"}},
      {{"LIPSCHITZLR_TIMEOUT", "soon"}},
      {{"LIPSCHITZLR_TIMEOUT", "inf"}},
  };
  for (const auto& change : bad) {
    std::map<std::string, std::string> values = good;
    for (const auto& [name, value] : change) values[name] = value;
    const Variables set(values);
    EXPECT_NE(complaint().find("the variable " + change.begin()->first), std::string::npos) << change.begin()->first;
  }
}

}  // namespace
}  // namespace lipschitzlr::dist
