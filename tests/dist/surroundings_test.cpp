#include "lipschitzlr/dist/surroundings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::dist {
namespace {

// Sets the variables while it lives; none of those that a starter sets is there otherwise.
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
    surroundings();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "";
}

TEST(Surroundings, AreNoneInAPlainShell) { EXPECT_FALSE(surroundings()); }

TEST(Surroundings, AreReadFromTorchsVariables) {
  const Variables set({{"RANK", "2"},
                       {"WORLD_SIZE", "4"},
                       {"LOCAL_RANK", "0"},
                       {"MASTER_ADDR", "10.1.2.3"},
                       {"MASTER_PORT", "1234"},
                       {"LIPSCHITZLR_TOKEN", "secret"},
                       {"LIPSCHITZLR_TIMEOUT", "2.5"}});
  const Surroundings found = surroundings().value();
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.size, 4);
  EXPECT_EQ(found.local_rank, 0);
  EXPECT_EQ(found.address, "10.1.2.3");
  EXPECT_EQ(found.port, 1234);
  EXPECT_EQ(found.token, "secret");
  EXPECT_EQ(found.timeout, 2.5);
}

TEST(Surroundings, StayOnThisMachineUnlessAnAddressIsGiven) {
  const Variables set({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  const Surroundings found = surroundings().value();
  EXPECT_EQ(found.address, "127.0.0.1");
  EXPECT_EQ(found.port, 29500);
  EXPECT_EQ(found.timeout, 60);
  EXPECT_EQ(found.token, "");
}

TEST(Surroundings, AreReadFromMpirunSlurmAndPmi) {
  {
    const Variables set(
        {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "5"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
    EXPECT_EQ(surroundings()->rank, 3);
    EXPECT_EQ(surroundings()->size, 5);
    EXPECT_EQ(surroundings()->local_rank, 1);
  }
  {
    const Variables set({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}, {"SLURM_LOCALID", "0"}});
    EXPECT_EQ(surroundings()->size, 3);
  }
  const Variables set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(surroundings()->rank, 1);
}

TEST(Surroundings, OfABatchScriptOfSlurmAreNone) {
  const Variables set({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}});
  EXPECT_FALSE(surroundings());
}

TEST(Surroundings, LeaveTorchrunsOwnPortAlone) {
  const Variables set(
      {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(surroundings()->port, 29501);
}

TEST(Surroundings, AskForAnAddressWhenTheProcessesAreOnSeveralMachines) {
  const Variables set(
      {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_NE(complaint().find("MASTER_ADDR"), std::string::npos);
}

TEST(Surroundings, NameTheVariableThatMakesNoSense) {
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
