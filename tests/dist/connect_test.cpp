#include "lipschitzlr/dist/connect.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dist/processes.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr {
namespace {

using test::Ended;
using test::run_processes;

std::vector<double> numbers(int rank, std::size_t count) {
  Random random(static_cast<std::uint64_t>(rank) + 7);
  std::vector<double> values(count);
  for (double& value : values) value = random.normal();
  return values;
}

constexpr std::size_t kLengths[] = {1, 2, 3, 5, 1000, 100'003};

LIPSCHITZLR_WORK(sums_have_the_same_bits) {
  for (const std::size_t length : kLengths) {
    std::vector<double> doubles = numbers(communicator.rank(), length);
    std::vector<float> floats(doubles.begin(), doubles.end());
    const auto first = communicator.start_sum(std::span<double>(doubles));
    const auto second = communicator.start_sum(std::span<float>(floats));
    first->wait();
    second->wait();
    std::vector<double> exact(length), size(length);
    for (int rank = 0; rank < communicator.size(); ++rank) {
      const std::vector<double> other = numbers(rank, length);
      for (std::size_t i = 0; i < length; ++i) exact[i] += other[i], size[i] += std::abs(other[i]);
    }
    for (std::size_t i = 0; i < length; ++i) {
      if (std::abs(doubles[i] - exact[i]) > 1e-15 * size[i]) out << "wrong sum of doubles\n";
      if (std::abs(static_cast<double>(floats[i]) - exact[i]) > 1e-6 * size[i]) out << "wrong sum of floats\n";
    }
    std::uint64_t bits = 0;
    for (const double value : doubles) bits = bits * 31 + std::hash<double>()(value);
    for (const float value : floats) bits = bits * 31 + std::hash<float>()(value);
    out << bits << "\n";
  }
}

TEST(Connect, SumsAreRightAndHaveTheSameBitsInAllProcesses) {
  for (const int size : {3, 4}) {
    const std::vector<Ended> ended = run_processes(size, "sums_have_the_same_bits");
    for (const Ended& one : ended) {
      EXPECT_EQ(one.exit_code, 0) << one.written;
      EXPECT_EQ(one.written, ended[0].written);
      EXPECT_EQ(one.written.find("wrong"), std::string::npos) << one.written;
    }
  }
}

TEST(Connect, TheLoadedLibtorchGivesItsVersionAndNotItsProcessor) {
  EXPECT_NE(dist::libtorch_build().find("TORCH_VERSION="), std::string::npos) << dist::libtorch_build();
  EXPECT_EQ(dist::libtorch_build().find("CPU capability"), std::string::npos);
}

TEST(Connect, OneProcessOpensNoPort) {
  dist::WorldEnv world;
  world.address = "no.such.host.invalid";
  const std::unique_ptr<Communicator> communicator = dist::connect(world);
  EXPECT_EQ(communicator->size(), 1);
  EXPECT_TRUE(communicator->is_root());
  std::vector<double> values = {1.5};
  communicator->sum(std::span<double>(values));
  communicator->maximum(values);
  EXPECT_EQ(values[0], 1.5);
}

LIPSCHITZLR_WORK(small_calls) {
  std::vector<double> largest = {static_cast<double>(communicator.rank()),
                                 -static_cast<double>(communicator.rank()) - 1, 1.0};
  if (communicator.rank() == 1) largest[2] = std::nan("");
  communicator.maximum(largest);
  out << largest[0] << " " << largest[1] << " " << std::isnan(largest[2]);
  std::string text = communicator.is_root() ? "from the first" : "something else";
  text.resize(14);
  communicator.broadcast(std::as_writable_bytes(std::span(text)));
  communicator.sum(std::span<double>());
  communicator.sum(std::span<float>());
  communicator.maximum({});
  communicator.broadcast({});
  out << " " << text;
}

TEST(Connect, MaximaKeepNaNAndRankZeroBroadcasts) {
  for (const Ended& one : run_processes(3, "small_calls")) EXPECT_EQ(one.written, "2 -1 1 from the first");
}

LIPSCHITZLR_WORK(other_data) {
  require_equal(communicator, "options", "the same");
  require_equal(communicator, "data", communicator.rank() == 1 ? "b" : "a", Fault::data);
}

TEST(Connect, OtherDataInOneProcessIsReportedByAll) {
  for (const Ended& one : run_processes(3, "other_data")) {
    EXPECT_EQ(one.exit_code, 3);
    EXPECT_EQ(one.written, "other data in rank 1 than in rank 0; all processes must be started alike");
  }
}

}  // namespace
}  // namespace lipschitzlr
