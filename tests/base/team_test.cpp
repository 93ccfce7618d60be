#include "lipschitzlr/base/team.hpp"

#include <gtest/gtest.h>

namespace lipschitzlr {
namespace {

TEST(Team, SharesFollowOneAnotherAndDifferByOneAtMost) {
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

}  // namespace
}  // namespace lipschitzlr
