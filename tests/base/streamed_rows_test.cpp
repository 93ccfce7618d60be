#include "lipschitzlr/base/streamed_rows.hpp"

#include <gtest/gtest.h>

namespace lipschitzlr {
namespace {

// 10 i + j, and 7 in the last column.
StreamedRows<double> counted(Index rows) {
  const auto fill = [](const Index* numbers, Index first, Index count, double* to) {
    for (Index i = 0; i < count; ++i) {
      const double row = static_cast<double>(numbers == nullptr ? first + i : numbers[i]);
      for (int j = 0; j < 2; ++j) *to++ = 10 * row + j;
      *to++ = 7;
    }
  };
  return {rows, 3, fill, 7.0};
}

TEST(StreamedRows, AreMadeByBlocksByNumberAndByColumn) {
  const StreamedRows<double> rows = counted(5);
  DenseMatrix<double> made(2, 3);
  rows.fill(3, 2, made.data());
  EXPECT_EQ(made, (DenseMatrix<double>{{30, 31, 7}, {40, 41, 7}}));
  const std::vector<Index> numbers = {4, 0};
  rows.fill(numbers, made.data());
  EXPECT_EQ(made, (DenseMatrix<double>{{40, 41, 7}, {0, 1, 7}}));
  EXPECT_EQ(rows.col(1), (Vector<double>{{1, 11, 21, 31, 41}}));
  EXPECT_EQ(rows.col(2), Vector<double>::Constant(5, 7));
  EXPECT_EQ(rows.size(), 15);
}

TEST(StreamedRows, RowsCanBeTakenFromRowsThatWereTaken) {
  const std::vector<Index> first = {4, 2, 2, 0}, second = {3, 0};
  const StreamedRows<double> taken = counted(5).take(first).take(second);
  EXPECT_EQ(taken.dense(), (DenseMatrix<double>{{0, 1, 7}, {40, 41, 7}}));
  DenseMatrix<double> made(1, 3);
  const std::vector<Index> last = {1};
  taken.fill(last, made.data());
  EXPECT_EQ(made, (DenseMatrix<double>{{40, 41, 7}}));
}

TEST(StreamedRows, SomeColumnsOfThemAreStreamedToo) {
  const StreamedRows<double> rows = counted(200).take_columns({2, 0, 0});
  EXPECT_EQ(rows.rows(), 200);
  DenseMatrix<double> made(2, 3);
  rows.fill(70, 2, made.data());
  EXPECT_EQ(made, (DenseMatrix<double>{{7, 700, 700}, {7, 710, 710}}));
  EXPECT_EQ(rows.take(std::vector<Index>{199, 3}).dense(), (DenseMatrix<double>{{7, 1990, 1990}, {7, 30, 30}}));
  EXPECT_EQ(rows.col(1)[199], 1990);
}

TEST(StreamedRows, AnObstacleGoesWithWhatIsMadeOfThem) {
  const StreamedRows<double> rows = counted(5).with_obstacle("not in memory");
  for (const StreamedRows<double>& made : {rows, rows.take(std::vector<Index>{1}), rows.take_columns({1})}) {
    try {
      made.dense();
      FAIL() << "they are in memory";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "not in memory");
    }
  }
  EXPECT_EQ(rows.col(1), (Vector<double>{{1, 11, 21, 31, 41}}));
  Index seen = 0;
  rows.for_each_block([&](Index first, const auto& block) { seen += first + block.rows(); });
  EXPECT_EQ(seen, 5);
}

TEST(StreamedRows, AreTheSameInMemoryForAnyNumberOfThreads) {
  ThreadPool pool(3);
  const StreamedRows<double> rows = counted(10001);
  const DenseMatrix<double> made = rows.dense(&pool);
  EXPECT_EQ(made, rows.dense());
  EXPECT_EQ(made(10000, 1), 100001);
}

}  // namespace
}  // namespace lipschitzlr
