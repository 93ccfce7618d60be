#include "lipschitzlr/data/batch/table_examples.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {
namespace {

Table small_table() { return parse_table("a,b,y\n1,10,5\n3,10,7\n5,40,12\n", "t.csv"); }

std::vector<float> filled(const Examples& examples, const std::vector<Index>& chosen) {
  std::vector<float> out(chosen.size() * static_cast<std::size_t>(examples.shape().size()), -1);
  examples.fill(chosen, 1, out.data());
  return out;
}

TEST(TableExamples, GiveRowsScaledAndTargetsAsAsked) {
  const Table table = small_table();
  const TableExamples rows(table, Scaler::learn(Scaling::min_max, table.features, false), 0, 5, 0.5);
  EXPECT_EQ(rows.count(), 3);
  EXPECT_EQ(rows.shape().channels, 2);
  EXPECT_EQ(rows.shape().size(), 2);
  EXPECT_EQ(rows.classes(), 0);
  EXPECT_EQ(filled(rows, {2, 0, 1}), (std::vector<float>{1, 1, 0, 0, 0.5f, 0}));
  EXPECT_EQ(rows.target(1), 1);
  EXPECT_EQ(rows.target(2), 3.5);
  EXPECT_EQ(all_of(rows), (std::vector<Index>{0, 1, 2}));
}

TEST(TableExamples, MakeTheRowsOfASparseTableDenseBatchByBatch) {
  const Table table = parse_table("1 1:2 3:4\n0 2:1\n1 \n", "t.svm", {.format = Format::libsvm});
  ASSERT_TRUE(std::holds_alternative<SparseMatrix<double>>(table.features));
  const TableExamples rows(table, Scaler::learn(Scaling::none, table.features, false), 2);
  EXPECT_EQ(filled(rows, {1, 2, 0}), (std::vector<float>{0, 1, 0, 0, 0, 0, 2, 0, 4}));
  EXPECT_EQ(rows.target(0), 1);  // a class is never scaled
}

TEST(TableExamples, HaveZerosForATargetThatIsNotThere) {
  const Table table = parse_table("1,2\n3,4\n", "t.csv", {.has_target = false});
  EXPECT_EQ(TableExamples(table, Scaler::learn(Scaling::none, table.features, false), 3).target(1), 0);
}

TEST(TableExamples, RefuseAnInterceptAndOtherColumns) {
  const Table table = small_table();
  EXPECT_THROW(TableExamples(table, Scaler::learn(Scaling::none, table.features, true), 0), Error);
  const Table wide = parse_table("1,2,3,4\n5,6,7,8\n", "t.csv");
  EXPECT_THROW(TableExamples(wide, Scaler::learn(Scaling::none, table.features, false), 0), Error);
}

}  // namespace
}  // namespace lipschitzlr::data
