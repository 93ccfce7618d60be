#include "lipschitzlr/experiment/setting.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::experiment {
namespace {

Recipe setting_recipe(const std::string& table, const std::string& name) { return select_recipes(table, {name}).at(0); }

TEST(Setting, ColumnsOfALogisticRowSumToOneWithTheInterceptAmongThem) {
  ThreadPool pool(1);
  const Recipe recipe = setting_recipe("table1", "breast-cancer");
  const Setting setting(recipe, load_data(recipe), 1, pool);
  const auto& matrix = std::get<DenseMatrix<double>>(setting.problem().matrix());
  ASSERT_EQ(matrix.cols(), 31);
  for (Index j = 0; j < matrix.cols(); ++j) EXPECT_NEAR(matrix.col(j).sum(), 1, 1e-12);
  EXPECT_DOUBLE_EQ(matrix(0, 30), 1.0 / 569);
}

TEST(Setting, ClassesAreNumberedAsTheRecipeNamesThem) {
  const Recipe recipe = setting_recipe("table1", "breast-cancer");
  const RowData source = load_data(recipe);
  EXPECT_EQ(source.rows.labels, (std::vector<std::string>{"malignant", "benign"}));
  EXPECT_EQ(source.rows.target.sum(), 357);  // benign cases in the data set
}

TEST(Setting, ChosenClassesColumnsAndRowsAreAllThatIsLeft) {
  Recipe recipe = setting_recipe("table1", "iris");
  const RowData whole = load_data(recipe);
  recipe.linear->classes = {whole.rows.labels[2], whole.rows.labels[0]};
  recipe.linear->first_columns = 2;
  recipe.linear->first_rows = 60;
  const RowData source = load_data(recipe);
  EXPECT_EQ(source.rows.rows(), 60);
  EXPECT_EQ(source.rows.columns(), 2);
  EXPECT_EQ(source.rows.feature_names.size(), 2u);
  // The file lists 50 flowers of one class after the other: 50 of class 0, now number 1, and 10 of class 2, now 0.
  EXPECT_EQ(source.rows.target.sum(), 50);
}

TEST(Setting, AMissingClassIsAnError) {
  Recipe recipe = setting_recipe("table1", "iris");
  recipe.linear->classes = {"rose", "tulip"};
  EXPECT_THROW(load_data(recipe), Error);
}

TEST(Setting, TheSeedDecidesSplitAndStart) {
  ThreadPool pool(1);
  const Recipe recipe = setting_recipe("table1", "iris");
  const RowData source = load_data(recipe);
  const Setting first(recipe, source, 1, pool), again(recipe, source, 1, pool), other(recipe, source, 2, pool);
  EXPECT_EQ(first.problem().rows(), 105);
  EXPECT_TRUE(first.judges_held_out_rows());
  EXPECT_EQ(first.judge(first.problem().zero_weights()).rows, 45);
  const auto matrix = [](const Setting& setting) { return std::get<DenseMatrix<double>>(setting.problem().matrix()); };
  EXPECT_EQ(matrix(first), matrix(again));
  EXPECT_NE(matrix(first), matrix(other));
  EXPECT_EQ(draw_start(recipe, first.problem(), 1), draw_start(recipe, again.problem(), 1));
  EXPECT_NE(draw_start(recipe, first.problem(), 1), draw_start(recipe, first.problem(), 2));
}

TEST(Setting, CountsTheInterceptInTheConstantUnlessTheRecipeSaysOtherwise) {
  using linear::ConstantKind;
  ThreadPool pool(1);
  Recipe recipe = setting_recipe("table1", "iris");
  const RowData source = load_data(recipe);
  const double without = Setting(recipe, source, 1, pool).constant(ConstantKind::coded).value;
  recipe.linear->intercept = true;
  const Setting with(recipe, source, 1, pool);
  EXPECT_EQ(with.constant(ConstantKind::coded).value, with.problem().constant(ConstantKind::coded).value);
  EXPECT_GT(with.constant(ConstantKind::coded).value, 1.001 * without);
  recipe.linear->intercept_in_constant = false;
  const Setting beside(recipe, source, 1, pool);
  EXPECT_EQ(beside.problem().features(), 5);
  EXPECT_NEAR(beside.constant(ConstantKind::coded).value, without, 1e-13);
  EXPECT_NEAR(beside.constant(ConstantKind::published).value, without, 1e-13);
  // What holds for the training holds for the intercept too.
  EXPECT_EQ(beside.constant(ConstantKind::certified).value, with.constant(ConstantKind::certified).value);
}

TEST(NaiveLoss, IsTheLossWhereNothingOverflows) {
  const DenseMatrix<double> scores{{1, 2, 0}, {0.5, -1, 3}};
  const Vector<double> targets{{1, 0}};
  EXPECT_NEAR(naive_loss(linear::Family::softmax, scores, targets),
              linear::measure(linear::Family::softmax, scores, targets, 3).loss, 1e-14);
  const DenseMatrix<double> score{{0.7}, {-2}};
  EXPECT_NEAR(naive_loss(linear::Family::logistic, score, targets),
              linear::measure(linear::Family::logistic, score, targets, 2).loss, 1e-14);
}

TEST(NaiveLoss, IsNotANumberWhereAProbabilityUnderflowsOrAnExponentialOverflows) {
  const Vector<double> target{{0}};
  EXPECT_TRUE(std::isnan(naive_loss(linear::Family::softmax, DenseMatrix<double>{{0, -800}}, target)));
  EXPECT_TRUE(std::isnan(naive_loss(linear::Family::softmax, DenseMatrix<double>{{800, 0}}, target)));
  EXPECT_TRUE(std::isnan(naive_loss(linear::Family::logistic, DenseMatrix<double>{{-800}}, target)));
}

}  // namespace
}  // namespace lipschitzlr::experiment
