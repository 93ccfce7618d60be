#include "lipschitzlr/run/rows_for_model.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/linear/model.hpp"

namespace lipschitzlr::run {
namespace {

linear::Model model_of(const std::vector<std::string>& labels) {
  linear::Model model;
  model.family = labels.empty() ? linear::Family::linear : linear::Family::logistic;
  model.feature_names = {"a", "b"};
  model.target_column = 2;
  model.target_name = "y";
  model.labels = labels;
  return model;
}

// A model of a file without a header.
linear::Model nameless(linear::Model model) {
  model.feature_names = {"x1", "x2"};
  model.has_names = false;
  return model;
}

data::Table load(const linear::Model& model, const std::string& content, Target target,
                 Columns columns = Columns::by_name) {
  const std::string path = testing::TempDir() + "lipschitzlr_apply.csv";
  write_file_atomically(path, content);
  return load_rows(model, path, {}, target, columns);
}

DenseMatrix<double> features_of(const data::Table& table) { return std::get<DenseMatrix<double>>(table.features); }

TEST(RowsForModel, ColumnsAreFoundByNameInAnyOrder) {
  const DenseMatrix<double> expected{{1, 2}, {3, 4}};
  EXPECT_EQ(features_of(load(model_of({}), "b,a\n2,1\n4,3\n", Target::ignored)), expected);
  EXPECT_EQ(features_of(load(model_of({}), "y,b,id,a\n9,2,7,1\n8,4,7,3\n", Target::ignored)), expected);
}

TEST(RowsForModel, WithoutNamesOnBothSidesPositionsCount) {
  const DenseMatrix<double> expected{{1, 2}, {3, 4}};
  const linear::Model model = nameless(model_of({}));
  EXPECT_EQ(features_of(load(model, "1,2\n3,4\n", Target::ignored)), expected);
  const data::Table table = load(model, "1,2,10\n3,4,20\n", Target::required);
  EXPECT_EQ(features_of(table), expected);
  EXPECT_EQ(table.target, (Vector<double>{{10, 20}}));
}

TEST(RowsForModel, PositionsCountWhenAskedFor) {
  const DenseMatrix<double> expected{{1, 2}, {3, 4}};
  for (const char* rows : {"1,2\n3,4\n", "A,B\n1,2\n3,4\n", "b,a\n1,2\n3,4\n", "1 1:1 2:2\n1 1:3 2:4\n"}) {
    const data::Table table = load(model_of({}), rows, Target::ignored, Columns::by_position);
    EXPECT_EQ(data::to_dense(table.features), expected) << rows;
  }
  EXPECT_EQ(features_of(load(nameless(model_of({})), "a,b\n1,2\n3,4\n", Target::ignored, Columns::by_position)),
            expected);
}

TEST(RowsForModel, AnIgnoredTargetMayBeEmptyOrAnything) {
  const DenseMatrix<double> expected{{1, 2}, {3, 4}};
  EXPECT_EQ(features_of(load(model_of({}), "a,b,y\n1,2,\n3,4,?\n", Target::ignored)), expected);
  EXPECT_EQ(features_of(load(nameless(model_of({})), "1,2,\n3,4,\n", Target::ignored)), expected);
}

TEST(RowsForModel, ClassesBecomeTheModelsIndices) {
  const data::Table words = load(model_of({"no", "yes"}), "a,b,y\n1,2,yes\n3,4,yes\n", Target::required);
  EXPECT_EQ(words.target, (Vector<double>{{1, 1}}));
  const data::Table numbers = load(model_of({"-1", "1"}), "a,b,y\n1,2,1\n3,4,-1\n", Target::required);
  EXPECT_EQ(numbers.target, (Vector<double>{{1, 0}}));
}

TEST(RowsForModel, WhatDoesNotFitIsNamed) {
  const auto refusal = [](const linear::Model& model, const std::string& content, Target target) -> std::string {
    try {
      load(model, content, target);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal(model_of({}), "a,c\n1,2\n", Target::ignored).find("the column \"b\" is missing"),
            std::string::npos);
  // The names of other columns, one side without names, LIBSVM against names: never by position without a word.
  const std::string other = refusal(model_of({}), "B,A\n2,1\n", Target::ignored);
  EXPECT_NE(other.find("the model has \"a\", \"b\"; the rows have \"B\", \"A\""), std::string::npos) << other;
  EXPECT_NE(other.find("--by-position"), std::string::npos) << other;
  const std::string bare = refusal(model_of({}), "1,2\n3,4\n", Target::ignored);
  EXPECT_NE(bare.find("the model has \"a\", \"b\"; the rows have 2 columns without names"), std::string::npos) << bare;
  EXPECT_NE(refusal(model_of({}), "1 1:1 2:2\n", Target::ignored).find("--by-position"), std::string::npos);
  const std::string named = refusal(nameless(model_of({})), "x1,x2\n1,2\n", Target::ignored);
  EXPECT_NE(named.find("the model has 2 columns without names; the rows have \"x1\", \"x2\""), std::string::npos)
      << named;
  EXPECT_NE(refusal(nameless(model_of({})), "1,2,3,4\n5,6,7,8\n", Target::ignored).find("expected 2 features, found 4"),
            std::string::npos);
  EXPECT_NE(refusal(model_of({}), "a,b\n1,2\n", Target::required).find("target \"y\" is missing"), std::string::npos);
  EXPECT_NE(refusal(model_of({"no", "yes"}), "a,b,y\n1,2,maybe\n", Target::required).find("\"maybe\" is unknown"),
            std::string::npos);
  EXPECT_NE(refusal(model_of({}), "a,b,y\n1,2,maybe\n", Target::required).find("predicts numbers"), std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::run
