#include "lipschitzlr/data/table/encoder.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using Names = std::vector<std::string>;

Table raw_table(std::string_view content, bool has_target = true) {
  ReadOptions options;
  options.raw = true;
  options.has_target = has_target;
  return parse_table(content, "t.csv", options);
}

Table encoded(const Encoder& encoder, const Table& table, bool strict = false) {
  return encoder.apply(table, encoder.places_in(table), "t.csv", strict);
}

DenseMatrix<double> values(const Table& table) { return to_dense(table.features); }

const char* const kPeople =
    "age,city,member,y\n"
    "10,Ulm,yes,1\n"
    "20,Bonn,no,2\n"
    "?,Ulm,yes,3\n"
    "60,,yes,4\n";

TEST(Encoder, MakesNumbersOfEveryColumn) {
  const Table table = raw_table(kPeople);
  const Encoder encoder = Encoder::learn(table, {});
  const Table made = encoded(encoder, table);
  EXPECT_EQ(made.feature_names, (Names{"age", "age (missing)", "city=Bonn", "city=Ulm", "city (missing)", "member"}));
  EXPECT_EQ(made.indicators, (std::vector<bool>{false, true, true, true, true, true}));
  EXPECT_EQ(values(made),
            (DenseMatrix<double>{{10, 0, 0, 1, 0, 1}, {20, 0, 1, 0, 0, 0}, {30, 1, 0, 1, 0, 1}, {60, 0, 0, 0, 1, 1}}));
  EXPECT_TRUE(made.raw_columns.empty());
  EXPECT_EQ(encoder.remarks, (Names{"gaps are filled with the mean and marked by a feature of their own: \"age\" 1",
                                    "gaps are a level of their own: \"city\" 1"}));
}

TEST(Encoder, FillsWithTheMedianAndWeighsTheMean) {
  const Table table = raw_table(kPeople);
  EXPECT_EQ(Encoder::learn(table, {.missing = Missing::median}).columns[0].fill, 20);
  EXPECT_EQ(Encoder::learn(table, {}, Vector<double>{{1, 2, 9, 1}}).columns[0].fill, 27.5);
}

TEST(Encoder, RepeatsWhatItLearnedOnOtherRows) {
  const Encoder encoder = Encoder::learn(raw_table(kPeople), {});
  const Table made = encoded(encoder, raw_table("city,member,age\nBonn,true,1\nKiel,,\n", false));
  EXPECT_EQ(values(made), (DenseMatrix<double>{{1, 0, 1, 0, 0, 1}, {30, 1, 0, 0, 0, 0.75}}));
  EXPECT_EQ(made.remarks, (Names{"t.csv: cells have levels that the model does not know: \"city\" 1 (\"Kiel\")",
                                 "t.csv: gaps are treated as in training: \"age\" 1, \"member\" 1"}));
  EXPECT_THROW(encoded(encoder, raw_table("city,member,age\nBonn,yes,1\nKiel,no,2\n", false), true), Error);
}

TEST(Encoder, AColumnThatIsMissingIsAGap) {
  const Encoder encoder = Encoder::learn(raw_table(kPeople), {});
  const Table rows = raw_table("city,member\nBonn,no\nUlm,yes\n", false);
  const Table made = encoded(encoder, rows);
  EXPECT_EQ(values(made), (DenseMatrix<double>{{30, 1, 1, 0, 0, 0}, {30, 1, 0, 1, 0, 1}}));
  EXPECT_EQ(made.remarks, Names{"t.csv: columns are missing and taken as gaps: \"age\""});
  EXPECT_THROW(encoded(encoder, rows, true), Error);
}

TEST(Encoder, TheRarestLevelsShareOne) {
  const Table table = raw_table("c,y\na,1\nb,2\nb,3\nd,1\nc,1\nc,1\nc,1\n");
  const Encoder encoder = Encoder::learn(table, {.max_levels = 2});
  const Table made = encoded(encoder, table);
  EXPECT_EQ(made.feature_names, (Names{"c=b", "c=c", "c (other)"}));
  EXPECT_EQ(values(made),
            (DenseMatrix<double>{{0, 0, 1}, {1, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}}));
  // A level that training has not seen is among the others, too.
  EXPECT_EQ(values(encoded(encoder, raw_table("c\nnew\nb\nnew\n", false))),
            (DenseMatrix<double>{{0, 0, 1}, {1, 0, 0}, {0, 0, 1}}));
}

TEST(Encoder, WithoutAPenaltyTheMostFrequentLevelIsTheReference) {
  const Table table = raw_table("c,d,y\na,2024-01-01,1\nb,2024-02-06,2\nb,2024-02-06,3\nz,2024-01-01,1\n");
  const Table made = encoded(Encoder::learn(table, {.all_levels = false}), table);
  EXPECT_EQ(made.feature_names, (Names{"c=a", "c=z", "d", "d (month 2)", "d (weekday 2)"}));
  EXPECT_EQ(values(made),
            (DenseMatrix<double>{{1, 0, 19723, 0, 0}, {0, 0, 19759, 1, 1}, {0, 0, 19759, 1, 1}, {0, 1, 19723, 0, 0}}));
}

TEST(Encoder, IdsAndColumnsThatSayNothingAreLeftOut) {
  const Table table = raw_table("id,same,none,a,y\nk1,x,,1,1\nk2,x,,2,2\nk3,x,?,3,3\n");
  const Encoder encoder = Encoder::learn(table, {});
  EXPECT_EQ(encoded(encoder, table).feature_names, Names{"a"});
  EXPECT_EQ(encoder.remarks,
            (Names{"left out, because no row has a value: \"none\"",
                   "left out, because every row has the same text: \"same\"",
                   "left out as an id, because every row has another text: \"id\" (--categorical keeps "
                   "it)"}));
}

TEST(Encoder, NumbersAloneStayAsTheyAre) {
  const Table table = raw_table("a,b,y\n1,2,3\n4,5,6\n");
  const Encoder encoder = Encoder::learn(table, {});
  EXPECT_TRUE(encoder.is_plain());
  const Table made = encoded(encoder, table);
  EXPECT_EQ(values(made), values(table));
  EXPECT_TRUE(made.indicators.empty());
  EXPECT_EQ(encoder.columns[1].fill, 3.5);
}

TEST(Encoder, ManyLevelsMakeASparseMatrixOfTheSameNumbersFromTheirMean) {
  std::string content = "n,c,y\n";
  for (int i = 0; i < 600; ++i) {
    content += (i % 7 == 0 ? "" : std::to_string(i)) + ",level" + std::to_string(i % 300) + ",1\n";
  }
  const Table table = raw_table(content);
  Encoder encoder = Encoder::learn(table, {.max_levels = 400});
  ASSERT_TRUE(encoder.sparse);
  const Table sparse = encoded(encoder, table);
  EXPECT_TRUE(std::holds_alternative<SparseMatrix<double>>(sparse.features));
  encoder.sparse = false;
  const Table dense = encoded(encoder, table);
  EXPECT_EQ(dense.feature_names, sparse.feature_names);
  DenseMatrix<double> centred = values(dense);
  centred.col(0).array() -= encoder.columns[0].fill;
  EXPECT_EQ(values(sparse), centred);
}

TEST(Encoder, NamesStayUnique) {
  const Table table = raw_table("c=a,c,y\n1,a,1\n2,b,2\n3,a,3\n4,b,4\n");
  EXPECT_EQ(encoded(Encoder::learn(table, {}), table).feature_names, (Names{"c=a", "c=a_", "c=b"}));
}

TEST(Encoder, CompleteRowsHaveNoGap) { EXPECT_EQ(complete_rows(raw_table(kPeople)), (std::vector<Index>{0, 1})); }

}  // namespace
}  // namespace lipschitzlr::data
