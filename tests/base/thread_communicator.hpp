#pragma once
// A communicator whose processes are threads of the test: quick to start, and enough to see that a computation says the
// same things in the same order. Sums are added in order of rank, so that all get the same bits.

#include <algorithm>
#include <barrier>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"

namespace lipschitzlr::test {

class ThreadCommunicator : public Communicator {
 public:
  struct Meeting {
    explicit Meeting(int size) : everybody(size), data(static_cast<std::size_t>(size)) {}
    std::barrier<> everybody;
    std::vector<const void*> data;
  };

  ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(meeting_.data.size()); }
  std::unique_ptr<Pending> start_sum(std::span<float> values) override {
    return fold(values, [](float a, float b) { return a + b; });
  }
  std::unique_ptr<Pending> start_sum(std::span<double> values) override {
    return fold(values, [](double a, double b) { return a + b; });
  }
  void maximum(std::span<double> values) override {
    fold(values, [](double a, double b) { return std::max(a, b); });
  }
  void broadcast(std::span<std::byte> bytes) override {
    fold(bytes, [](std::byte a, std::byte) { return a; });
  }

 private:
  struct Done : Pending {
    void wait() override {}
  };

  template <class Number, class Combine>
  std::unique_ptr<Pending> fold(std::span<Number> values, const Combine& combine) {
    meeting_.data[static_cast<std::size_t>(rank_)] = values.data();
    meeting_.everybody.arrive_and_wait();
    const auto* first = static_cast<const Number*>(meeting_.data[0]);
    std::vector<Number> result(first, first + values.size());
    for (std::size_t rank = 1; rank < meeting_.data.size(); ++rank) {
      const auto* other = static_cast<const Number*>(meeting_.data[rank]);
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = combine(result[i], other[i]);
    }
    meeting_.everybody.arrive_and_wait();
    std::copy(result.begin(), result.end(), values.begin());
    return std::make_unique<Done>();
  }

  Meeting& meeting_;
  int rank_;
};

// Runs the work once per rank and returns what each made of it. The work must not throw.
template <class Result>
std::vector<Result> run_threads(int size, const std::function<Result(Communicator&)>& work) {
  ThreadCommunicator::Meeting meeting(size);
  std::vector<Result> results(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadCommunicator communicator(meeting, rank);
      results[static_cast<std::size_t>(rank)] = work(communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace lipschitzlr::test
