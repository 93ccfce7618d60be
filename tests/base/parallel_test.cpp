#include "lipschitzlr/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace lipschitzlr {
namespace {

TEST(ThreadPool, RunsEachTaskOnceForAnyNumberOfThreads) {
  for (unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (std::size_t tasks : {0u, 1u, 2u, 1000u}) {
      std::vector<std::atomic<int>> counts(tasks);
      pool.run(tasks, [&](std::size_t i) { ++counts[i]; });
      for (const auto& count : counts) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, ThousandsOfShortRoundsInARow) {
  ThreadPool pool(3);
  std::atomic<long> sum = 0;
  for (int round = 0; round < 5000; ++round) pool.run(4, [&](std::size_t i) { sum += static_cast<long>(i); });
  EXPECT_EQ(sum, 5000 * 6);
}

TEST(ThreadPool, EndsSoonOnABusyMachineToo) {
  std::atomic<bool> busy = true;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i) {
    others.emplace_back([&] {
      while (busy) {
      }
    });
  }
  const auto began = std::chrono::steady_clock::now();
  for (int times = 0; times < 20; ++times) const ThreadPool pool(2);  // each took 13 s once
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  busy = false;
  for (std::thread& other : others) other.join();
  EXPECT_LT(took.count(), 120);
}

TEST(ThreadPool, AnExceptionReachesTheCallerAndThePoolLivesOn) {
  ThreadPool pool(2);
  const auto fail_at_three = [](std::size_t i) {
    if (i == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(pool.run(10, fail_at_three), std::runtime_error);
  std::atomic<int> count = 0;
  pool.run(10, [&](std::size_t) { ++count; });
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace lipschitzlr
