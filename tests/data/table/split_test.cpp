#include "lipschitzlr/data/table/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

// A table with the given number of rows of each class, classes taking turns; plain with one number.
Table table_of(const std::vector<int>& sizes) {
  std::vector<double> target;
  for (int round = 0; round < *std::max_element(sizes.begin(), sizes.end()); ++round) {
    for (std::size_t label = 0; label < sizes.size(); ++label) {
      if (round < sizes[label]) target.push_back(static_cast<double>(label));
    }
  }
  Table table;
  table.target = Eigen::Map<Vector<double>>(target.data(), static_cast<Index>(target.size()));
  table.features = DenseMatrix<double>(table.target);
  for (std::size_t label = 0; sizes.size() > 1 && label < sizes.size(); ++label) {
    table.labels.push_back(std::to_string(label));
  }
  return table;
}

std::vector<int> count_classes(const Table& table, const std::vector<Index>& rows, std::size_t classes) {
  std::vector<int> counts(classes);
  for (Index row : rows) ++counts.at(static_cast<std::size_t>(table.target(row)));
  return counts;
}

void expect_partition(const Split& split, Index rows) {
  EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
  EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
  std::vector<Index> all = split.train, expected(static_cast<std::size_t>(rows));
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::sort(all.begin(), all.end());
  std::iota(expected.begin(), expected.end(), Index{0});
  EXPECT_EQ(all, expected);
}

Split split(const Table& table, double fraction, std::uint64_t seed = 1) {
  Random random(seed);
  const Split parts = split_rows(table, fraction, random);
  expect_partition(parts, table.rows());
  return parts;
}

TEST(Split, TakesTheShareOfRows) {
  EXPECT_EQ(split(table_of({10}), 0.3).test.size(), 3u);
  EXPECT_EQ(split(table_of({10}), 0.25).test.size(), 3u);
  EXPECT_EQ(split(table_of({10}), 0).test.size(), 0u);
  EXPECT_EQ(split(table_of({10}), 0.99).train.size(), 1u);
}

TEST(Split, EachClassGivesItsShareAndTheTotalIsRight) {
  const Table table = table_of({50, 50, 50});
  EXPECT_EQ(count_classes(table, split(table, 0.3).test, 3), (std::vector<int>{15, 15, 15}));
  const Table uneven = table_of({7, 5, 3});  // 0.3 * 15 = 4.5 rounds to 5; shares 2.1, 1.5, 0.9
  EXPECT_EQ(count_classes(uneven, split(uneven, 0.3).test, 3), (std::vector<int>{2, 2, 1}));
}

TEST(Split, NoClassLeavesTraining) {
  const Table table = table_of({20, 2, 1});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<int> kept = count_classes(table, split(table, 0.8, seed).train, 3);
    for (int count : kept) EXPECT_GE(count, 1);
  }
  EXPECT_EQ(split(table, 0.8).test.size(), 18u);  // round(18.4), made up by the large class
}

TEST(Split, TheSeedDecides) {
  const Table table = table_of({40, 30});
  EXPECT_EQ(split(table, 0.5, 7).test, split(table, 0.5, 7).test);
  EXPECT_NE(split(table, 0.5, 7).test, split(table, 0.5, 8).test);
}

TEST(Split, EveryRowHasItsChance) {
  const Table table = table_of({10});
  std::vector<int> counts(10);
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    for (Index row : split_rows(table, 0.3, random).test) ++counts.at(static_cast<std::size_t>(row));
  }
  for (int count : counts) EXPECT_NEAR(count, 600, 100);  // five deviations of 20.5
}

TEST(Split, AShareOutsideZeroToOneOrOfNothingIsRefused) {
  const Table table = table_of({10});
  Random random(1);
  for (double fraction : {-0.1, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN(), 0.01}) {
    try {
      split_rows(table, fraction, random);
      ADD_FAILURE() << fraction;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
    }
  }
}

TEST(Split, DealsEveryRowOnceAndEachClassEvenly) {
  const Table table = table_of({17, 9, 4});
  Random random(1);
  const std::vector<std::vector<Index>> parts = deal_rows(table, 4, random);
  std::vector<int> seen(30);
  for (const std::vector<Index>& part : parts) {
    for (const Index row : part) ++seen.at(static_cast<std::size_t>(row));
    EXPECT_TRUE(part.size() == 7 || part.size() == 8);
    const std::vector<int> classes = count_classes(table, part, 3);
    EXPECT_TRUE(classes[0] == 4 || classes[0] == 5);
    EXPECT_TRUE(classes[1] == 2 || classes[1] == 3);
    EXPECT_EQ(classes[2], 1);
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
  }
  EXPECT_EQ(seen, std::vector<int>(30, 1));
  Random same(1), another(2);
  EXPECT_EQ(deal_rows(table, 4, same), parts);
  EXPECT_NE(deal_rows(table, 4, another), parts);
  EXPECT_THROW(deal_rows(table, 0, random), Error);
}

TEST(Split, DealsByWhatTheRowsHoldNotByTheirOrder) {
  DenseMatrix<double> rows = DenseMatrix<double>::Random(40, 3);
  rows.col(1).setZero();
  Table table = table_of({25, 15}), sparse = table;
  table.features = rows;
  sparse.features = SparseMatrix<double>(rows.sparseView());
  std::vector<Index> backwards(40);
  std::iota(backwards.rbegin(), backwards.rend(), Index{0});
  Random one(1), two(1), three(1);
  const std::vector<std::vector<Index>> parts = deal_rows(table, 4, one);
  std::vector<std::vector<Index>> others = deal_rows(take_rows(table, backwards), 4, two);
  for (std::vector<Index>& part : others) {
    for (Index& row : part) row = 39 - row;
    std::reverse(part.begin(), part.end());
  }
  EXPECT_EQ(others, parts);
  EXPECT_EQ(deal_rows(sparse, 4, three), parts);
}

}  // namespace
}  // namespace lipschitzlr::data
