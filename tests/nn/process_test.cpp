#include "lipschitzlr/nn/process.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace lipschitzlr::nn {
namespace {

TEST(Process, UsesEveryCoreAndKnowsItsLibtorch) {
  use_cores();
  const ProcessFacts facts = process_facts();
  EXPECT_EQ(facts.threads, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(facts.threads, facts.cores);
  EXPECT_EQ(facts.libtorch_version.rfind("1.", 0), 0u) << facts.libtorch_version;
  EXPECT_LE(facts.blas_threads, 1);
}

}  // namespace
}  // namespace lipschitzlr::nn
