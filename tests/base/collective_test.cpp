#include "lipschitzlr/base/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "base/thread_communicator.hpp"
#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

// Rank 0 speaks into a queue of messages, the others hear what it holds.
class Recording : public Communicator {
 public:
  Recording(int rank, std::deque<std::vector<std::byte>>& messages) : rank_(rank), messages_(messages) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  std::unique_ptr<Pending> start_sum(std::span<float>) override { return nullptr; }
  std::unique_ptr<Pending> start_sum(std::span<double>) override { return nullptr; }
  void maximum(std::span<double>) override {}
  void broadcast(std::span<std::byte> bytes) override {
    if (rank_ == 0) return messages_.emplace_back(bytes.begin(), bytes.end()), void();
    ASSERT_EQ(bytes.size(), messages_.front().size());
    std::copy(messages_.front().begin(), messages_.front().end(), bytes.begin());
    messages_.pop_front();
  }

 private:
  int rank_;
  std::deque<std::vector<std::byte>>& messages_;
};

TEST(Communicator, WhatTheLeaderDoesIsKnownToAll) {
  const auto never = []() -> std::string { throw std::logic_error("not asked"); };
  EXPECT_EQ(from_root(nullptr, [] { return "alone"; }), "alone");
  std::deque<std::vector<std::byte>> messages;
  Recording leader(0, messages), other(1, messages);
  for (const std::string& text : {std::string("some text"), std::string(), std::string("\0\n", 2)}) {
    EXPECT_EQ(from_root(&leader, [&] { return text; }), text);
    EXPECT_EQ(from_root(&other, never), text);
    EXPECT_TRUE(messages.empty());
  }
}

TEST(Communicator, WhatTheLeaderFailsAtFailsForAll) {
  std::deque<std::vector<std::byte>> messages;
  Recording leader(0, messages), other(1, messages);
  const auto fails = [&](Communicator& communicator, const std::function<std::string()>& work) {
    try {
      from_root(&communicator, work);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_STREQ(error.what(), "no such file");
    }
  };
  fails(leader, []() -> std::string { throw Error(Fault::data, "no such file"); });
  fails(other, []() -> std::string { throw std::logic_error("not asked"); });
  EXPECT_TRUE(messages.empty());
}

TEST(Communicator, SharesFollowOneAnotherAndDifferByOneAtMost) {
  for (const Index count : {0, 1, 2, 5, 96, 128, 50000}) {
    for (const int size : {1, 2, 3, 4, 7}) {
      Index next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const auto [begin, end] = share_of(count, rank, size);
        EXPECT_EQ(begin, next);
        EXPECT_GE(end - begin, count / size);
        EXPECT_LE(end - begin, (count + size - 1) / size);
        next = end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(Communicator, AllGetTheBytesOfEach) {
  const std::vector<std::string> texts = {"", std::string("\0\xff\x80 any bytes", 12), "six by", "seven b"};
  const auto gathered = test::run_threads<std::vector<std::string>>(4, [&](Communicator& communicator) {
    return gather_bytes(&communicator, texts[static_cast<std::size_t>(communicator.rank())]);
  });
  for (const auto& all : gathered) EXPECT_EQ(all, texts);
  EXPECT_EQ(gather_bytes(nullptr, "alone"), std::vector<std::string>{"alone"});
}

TEST(Communicator, NumbersGoFromProcessToProcessInTheirOrder) {
  const std::vector<double> addends = {1, 1e-16, 1e-16, -1};
  const auto add = [&](Communicator* communicator, std::size_t first, std::size_t last) {
    std::array<double, 1> sum{};
    in_turn(communicator, sum, [&] {
      for (std::size_t i = first; i < last; ++i) sum[0] += addends[i];
    });
    return sum[0];
  };
  const auto sums = test::run_threads<double>(4, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    return add(&communicator, rank, rank + 1);
  });
  for (const double sum : sums) EXPECT_EQ(sum, add(nullptr, 0, 4));  // in another order it is not 0
}

TEST(Communicator, WhatFailsInOneProcessFailsInAllWithItsSentence) {
  const auto sentences = test::run_threads<std::string>(3, [](Communicator& communicator) -> std::string {
    together(&communicator, [] {});
    try {
      together(&communicator, [&] {
        if (communicator.rank() > 0) throw Error(Fault::interrupted, "rank " + std::to_string(communicator.rank()));
      });
    } catch (const Error& error) {
      return error.what() + std::to_string(error.exit_code());
    }
    return "none";
  });
  for (const std::string& sentence : sentences) EXPECT_EQ(sentence, "rank 1130");
}

}  // namespace
}  // namespace lipschitzlr
