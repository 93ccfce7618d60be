#include "lipschitzlr/run/rows_for_model.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::run {
namespace {

linear::Model model_of(const std::vector<std::string>& labels) {
  linear::Model model;
  model.family = labels.empty() ? linear::Family::linear : linear::Family::logistic;
  model.feature_names = {"a", "b"};
  model.target_name = "y";
  model.labels = labels;
  return model;
}

data::Table load(const linear::Model& model, const std::string& content, Target target) {
  const std::string path = testing::TempDir() + "lipschitzlr_apply.csv";
  write_file_atomically(path, content);
  return load_rows(model, path, {}, target);
}

DenseMatrix<double> features_of(const data::Table& table) { return std::get<DenseMatrix<double>>(table.features); }

TEST(RowsForModel, ColumnsAreFoundByNameInAnyOrder) {
  const DenseMatrix<double> expected{{1, 2}, {3, 4}};
  EXPECT_EQ(features_of(load(model_of({}), "b,a\n2,1\n4,3\n", Target::ignored)), expected);
  EXPECT_EQ(features_of(load(model_of({}), "y,b,id,a\n9,2,7,1\n8,4,7,3\n", Target::ignored)), expected);
}

TEST(RowsForModel, WithoutAHeaderThePlacesMustDo) {
  const DenseMatrix<double> expected{{1, 2}, {3, 4}};
  EXPECT_EQ(features_of(load(model_of({}), "1,2\n3,4\n", Target::ignored)), expected);
  const data::Table table = load(model_of({}), "1,2,10\n3,4,20\n", Target::required);
  EXPECT_EQ(features_of(table), expected);
  EXPECT_EQ(table.target, (Vector<double>{{10, 20}}));
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
  EXPECT_NE(refusal(model_of({}), "1,2,3,4\n5,6,7,8\n", Target::ignored).find("needs 2 features"), std::string::npos);
  EXPECT_NE(refusal(model_of({}), "a,b\n1,2\n", Target::required).find("target \"y\" is missing"), std::string::npos);
  EXPECT_NE(refusal(model_of({"no", "yes"}), "a,b,y\n1,2,maybe\n", Target::required).find("\"maybe\" is unknown"),
            std::string::npos);
  EXPECT_NE(refusal(model_of({}), "a,b,y\n1,2,maybe\n", Target::required).find("predicts numbers"), std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::run
