#include "lipschitzlr/data/table/table.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

Table small_table() {
  Table table;
  table.features = DenseMatrix<double>{{1, 2}, {3, 4}, {5, 6}};
  table.feature_names = {"a", "b"};
  table.target = Vector<double>{{7, 0.5, 7}};
  return table;
}

TEST(Table, TakesRowsInTheGivenOrder) {
  const Table taken = take_rows(small_table(), {2, 0, 2});
  EXPECT_EQ(std::get<DenseMatrix<double>>(taken.features), (DenseMatrix<double>{{5, 6}, {1, 2}, {5, 6}}));
  EXPECT_EQ(taken.target, (Vector<double>{{7, 7, 7}}));
}

TEST(Table, TakesSparseRows) {
  Table table = small_table();
  const DenseMatrix<double> dense{{0, 2}, {3, 0}, {0, 0}};
  table.features = SparseMatrix<double>(dense.sparseView());
  const Table taken = take_rows(table, {1, 2, 0});
  EXPECT_EQ(DenseMatrix<double>(std::get<SparseMatrix<double>>(taken.features)),
            (DenseMatrix<double>{{3, 0}, {0, 0}, {0, 2}}));
}

TEST(Table, ClassesAreTheDistinctValuesInAscendingOrder) {
  Table table = small_table();
  make_classes(table);
  EXPECT_EQ(table.labels, (std::vector<std::string>{"0.5", "7"}));
  EXPECT_EQ(table.target, (Vector<double>{{1, 0, 1}}));
}

TEST(Table, NumbersThatCannotBeToldApartMakeNoClasses) {
  Table table = small_table();
  table.target = Vector<double>{{9007199254740992.0, 9007199254740994.0}};
  EXPECT_THROW(make_classes(table), Error);
}

TEST(Table, ElevenWholeNumbersAreACount) {
  Table table;
  table.target.resize(110);
  for (Index i = 0; i < 110; ++i) table.target[i] = static_cast<double>(i % 11);
  EXPECT_FALSE(looks_like_classes(table));
  table.target = table.target.cwiseMin(9);
  EXPECT_TRUE(looks_like_classes(table));
}

TEST(Table, WholeNumbersOfFewKindsLookLikeClasses) {
  Table table = small_table();
  EXPECT_FALSE(looks_like_classes(table));
  table.target = Vector<double>{{-1, 1, -1}};
  EXPECT_TRUE(looks_like_classes(table));
  table.target = Vector<double>{{3, 5, 4, 3, 4, 5, 3, 3, 5}};
  EXPECT_TRUE(looks_like_classes(table));
  table.target = Vector<double>{{3, 5, 4, 3, 4, 5, 3, 3}};
  EXPECT_FALSE(looks_like_classes(table)) << "too few rows for three classes: more likely numbers";
  table.target = Vector<double>{{3, 3, 3}};
  EXPECT_FALSE(looks_like_classes(table));
  table.target = Vector<double>::LinSpaced(21, 0, 20).replicate(3, 1);
  EXPECT_FALSE(looks_like_classes(table));
}

}  // namespace
}  // namespace lipschitzlr::data
