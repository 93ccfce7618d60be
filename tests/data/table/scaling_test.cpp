#include "lipschitzlr/data/table/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::data {
namespace {

using Dense = DenseMatrix<double>;
using Sparse = SparseMatrix<double>;

const Dense& dense(const Features& features) { return std::get<Dense>(features); }
Sparse sparse(const Dense& matrix) { return matrix.sparseView(); }

std::string complaint(Fault fault, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault);
    return error.what();
  }
  return "no error";
}

TEST(Scaling, WholeWeightsOfRowsCountAsRepeatedRows) {
  const Dense x{{1, 0, 5}, {2, 3, 5}, {-4, 0, 5}, {100, 100, 7}, {0.5, 2, 5}};
  const Vector<double> weights{{2, 1, 3, 0, 1}};
  const Dense repeated{{1, 0, 5}, {1, 0, 5}, {2, 3, 5}, {-4, 0, 5}, {-4, 0, 5}, {-4, 0, 5}, {0.5, 2, 5}};
  for (const Scaling scaling : {Scaling::none, Scaling::column_sum, Scaling::standard, Scaling::min_max}) {
    const Scaler weighted = Scaler::learn(scaling, x, true, {}, weights),
                 plain = Scaler::learn(scaling, repeated, true);
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(weighted.offsets[j], plain.offsets[j], 1e-15) << to_string(scaling);
      EXPECT_NEAR(weighted.factors[j], plain.factors[j], 1e-14 * std::abs(plain.factors[j])) << to_string(scaling);
    }
  }
  const Scaler thin = Scaler::learn(Scaling::column_sum, sparse(x), true, {}, weights),
               plain = Scaler::learn(Scaling::column_sum, sparse(repeated), true);
  for (std::size_t j = 0; j < 4; ++j)
    EXPECT_NEAR(thin.factors[j], plain.factors[j], 1e-14 * std::abs(plain.factors[j]));
  const Vector<double> none = Vector<double>::Zero(5);
  EXPECT_NE(complaint(Fault::data, [&] { Scaler::learn(Scaling::standard, x, true, {}, none); }).find("all 0"),
            std::string::npos);
}

TEST(Scaling, NamesGoBothWays) {
  for (const char* name : {"none", "sum", "standard", "minmax"}) EXPECT_EQ(to_string(scaling_from(name)), name);
  EXPECT_NE(complaint(Fault::usage, [] { scaling_from("zscore"); }).find("\"zscore\"; choose none, sum"),
            std::string::npos);
}

TEST(Scaling, ByHand) {
  const Dense x{{1, 0, 5}, {2, 0, 5}, {5, 0, 5}, {0, 0, 5}};
  const auto scaled = [&](Scaling scaling) { return dense(Scaler::learn(scaling, x, true).apply(x)); };
  EXPECT_EQ(scaled(Scaling::none), x);
  EXPECT_TRUE(
      scaled(Scaling::column_sum).isApprox(Dense{{.125, 0, .25}, {.25, 0, .25}, {.625, 0, .25}, {0, 0, .25}}, 1e-15));
  EXPECT_TRUE(scaled(Scaling::min_max).isApprox(Dense{{.2, 0, 0}, {.4, 0, 0}, {1, 0, 0}, {0, 0, 0}}, 1e-15));
  const double deviation = std::sqrt(14.0 / 4);  // mean 2: deviations 1, 0, 9, 4 squared
  EXPECT_TRUE(
      scaled(Scaling::standard).isApprox(Dense{{-1, 0, 0}, {0, 0, 0}, {3, 0, 0}, {-2, 0, 0}} / deviation, 1e-15));
}

TEST(Scaling, TheInterceptComesLastAndIsScaledLikeInTraining) {
  const Dense train{{1}, {2}, {3}, {2}}, later{{4}};
  const auto intercept = [&](Scaling scaling) {
    return Scaler::learn(scaling, train, true).design<double>(later)(0, 1);
  };
  EXPECT_EQ(intercept(Scaling::none), 1);
  EXPECT_EQ(intercept(Scaling::column_sum), 0.25);
  EXPECT_EQ(intercept(Scaling::standard), 1);
  EXPECT_EQ(intercept(Scaling::min_max), 1);
  const Scaler without = Scaler::learn(Scaling::column_sum, train, false);
  EXPECT_EQ(without.design<double>(later), (Dense{{0.5}}));
  EXPECT_EQ(without.design_columns(), 1);
}

TEST(Scaling, BreastCancerGivesThePapersRate) {
  // 2m / ||X||_F with the intercept and sums of one: 4280.227670674592 (method.md; NumPy gives the same to 1e-15).
  const Table table = catalogue::load("breast-cancer");
  const Dense design = Scaler::learn(Scaling::column_sum, table.features, true).design<double>(dense(table.features));
  EXPECT_NEAR(2.0 * 569 / design.norm(), 4280.227670674592, 4280 * 1e-14);
  EXPECT_TRUE(design.colwise().sum().isApprox(Eigen::RowVectorXd::Ones(31), 1e-13));
  const auto single = Scaler::learn(Scaling::column_sum, table.features, true).design<float>(dense(table.features));
  EXPECT_NEAR(2.0 * 569 / single.norm(), 4280.2277, 0.01);
}

TEST(Scaling, WineAgreesWithScikitLearn) {
  // scikit-learn 1.2: StandardScaler().fit(X): mean_[12], scale_[12], transform(X)[0, 0]; MinMaxScaler: data_min_[12],
  // scale_[12], transform(X)[5, 3].
  const Table table = catalogue::load("wine");
  const Scaler standard = Scaler::learn(Scaling::standard, table.features, false);
  EXPECT_NEAR(standard.offsets[12], 746.8932584269663, 1e-12);
  EXPECT_NEAR(1 / standard.factors[12], 314.0216568419877, 1e-11);
  EXPECT_NEAR(dense(standard.apply(table.features))(0, 0), 1.5186125409891542, 1e-13);
  const Scaler range = Scaler::learn(Scaling::min_max, table.features, false);
  EXPECT_EQ(range.offsets[12], 278);
  EXPECT_NEAR(range.factors[12], 0.0007132667617689016, 1e-18);
  EXPECT_NEAR(dense(range.apply(table.features))(5, 3), 0.2371134020618556, 1e-15);
}

TEST(Scaling, ALargeMeanDoesNotDrownTheDeviation) {
  Dense x(1000, 1);
  for (Index i = 0; i < 1000; ++i) x(i, 0) = 1e9 + (i % 2 == 0 ? 0.25 : -0.25);
  const Scaler scaler = Scaler::learn(Scaling::standard, x, false);
  EXPECT_EQ(scaler.offsets[0], 1e9);
  EXPECT_NEAR(scaler.factors[0], 4, 1e-12);
}

TEST(Scaling, ColumnsWhoseSquaresOverflowOrUnderflowAreScaledLikeOthers) {
  const Dense x{{1, 4}, {2, 0}, {5, 3}, {0, 7}};
  for (const double size : {1e160, 1e307, 1e-170, 1e-300}) {
    const Dense large = x * size;
    Dense mixed = x;
    mixed.col(0) = large.col(0);
    for (const Scaling scaling : {Scaling::standard, Scaling::min_max}) {
      const Dense expected = dense(Scaler::learn(scaling, x, false).apply(x));
      EXPECT_TRUE(dense(Scaler::learn(scaling, mixed, false).apply(mixed)).isApprox(expected, 1e-14))
          << to_string(scaling) << " " << size;
    }
    const Features sums = Scaler::learn(Scaling::column_sum, sparse(large), false).apply(sparse(large));
    EXPECT_TRUE(
        Dense(std::get<Sparse>(sums)).isApprox(dense(Scaler::learn(Scaling::column_sum, x, false).apply(x)), 1e-14))
        << size;
  }
  const Dense widest{{1.7e308}, {-1.7e308}};
  EXPECT_NE(complaint(Fault::data, [&] { Scaler::learn(Scaling::standard, widest, false); }).find("reaches from"),
            std::string::npos);
}

TEST(Scaling, RowsInTheMemoryOfOthersAreScaledAlike) {
  const Dense x{{0, 2, 0, 1}, {3, 0, 0, 1}, {0, 0, 0, 2}};
  const DenseMatrix<float> single = x.cast<float>();
  const FeatureView views[] = {view_of(x), DenseView<float>(single.data(), 3, 4)};
  for (Scaling scaling : {Scaling::none, Scaling::column_sum, Scaling::standard, Scaling::min_max}) {
    const Scaler scaler = Scaler::learn(scaling, x, true);
    for (const FeatureView& view : views) {
      const Scaler same = Scaler::learn(scaling, view, true);
      EXPECT_EQ(same.offsets, scaler.offsets);
      EXPECT_EQ(same.factors, scaler.factors);
      EXPECT_EQ(std::get<Dense>(same.design<double>(view)), scaler.design<double>(x));
      EXPECT_EQ(std::get<DenseMatrix<float>>(same.design<float>(view)), scaler.design<float>(x));
      EXPECT_EQ(same.streamed_design<double>(view).take(std::vector<Index>{2, 0}).dense(),
                scaler.design<double>(Dense(x({2, 0}, Eigen::all))));
    }
  }
  const Sparse stored = sparse(x);
  const Scaler sums = Scaler::learn(Scaling::column_sum, FeatureView(view_of(stored)), true);
  EXPECT_EQ(Dense(std::get<Sparse>(sums.design<double>(FeatureView(view_of(stored))))), sums.design<double>(x));
  EXPECT_THROW(sums.streamed_design<double>(view_of(stored)), Error);
  EXPECT_THROW(Scaler::learn(Scaling::standard, FeatureView(view_of(stored)), true), Error);
}

TEST(Scaling, SparseAgreesWithDense) {
  const Dense x{{0, 2, 0, 1}, {3, 0, 0, 1}, {0, 0, 0, 2}};
  for (Scaling scaling : {Scaling::none, Scaling::column_sum}) {
    const Scaler from_dense = Scaler::learn(scaling, x, true), from_sparse = Scaler::learn(scaling, sparse(x), true);
    EXPECT_EQ(from_dense.factors, from_sparse.factors);
    const Sparse design = from_sparse.design<double>(sparse(x));
    EXPECT_EQ(Dense(design), from_dense.design<double>(x));
    EXPECT_EQ(design.nonZeros(), 5 + 3);
    EXPECT_TRUE(design.isCompressed());
    EXPECT_EQ(Dense(std::get<Sparse>(from_sparse.apply(sparse(x)))), dense(from_dense.apply(x)));
  }
  const Dense without_offset = x.leftCols(3);
  EXPECT_EQ(Scaler::learn(Scaling::min_max, sparse(without_offset), false).factors,
            Scaler::learn(Scaling::min_max, without_offset, false).factors);
}

TEST(Scaling, ShiftingSparseColumnsIsRefused) {
  const Dense x{{0, 2}, {3, 1}};
  for (Scaling scaling : {Scaling::standard, Scaling::min_max}) {
    const std::string words = "choose the scaling sum or none";
    EXPECT_NE(complaint(Fault::usage, [&] { Scaler::learn(scaling, sparse(x), true); }).find(words), std::string::npos);
    const Scaler learned = Scaler::learn(scaling, x, true);
    EXPECT_NE(complaint(Fault::usage, [&] { learned.apply(sparse(x)); }).find(words), std::string::npos);
  }
}

TEST(Scaling, AColumnThatCancelsOutIsNamed) {
  const Dense x{{1, 0.1}, {2, 0.2}, {3, -0.3}};  // 0.1 + 0.2 - 0.3 is 5.6e-17 in floating point
  const auto learn = [&] { Scaler::learn(Scaling::column_sum, x, true, {"a", "b"}); };
  EXPECT_NE(complaint(Fault::data, learn).find("column 2 (\"b\") sums to zero"), std::string::npos);
  EXPECT_NE(complaint(Fault::data, [&] { Scaler::learn(Scaling::column_sum, x, true); }).find("column 2 sums"),
            std::string::npos);
}

TEST(Scaling, OtherColumnsOrNoRowsAreErrors) {
  const Scaler scaler = Scaler::learn(Scaling::column_sum, Dense{{1, 2}}, true);
  const std::string words = "the rows have 3 feature columns, but the scaling was learned on 2";
  EXPECT_NE(complaint(Fault::data, [&] { scaler.apply(Dense{{1, 2, 3}}); }).find(words), std::string::npos);
  EXPECT_NE(complaint(Fault::data,
                      [&] {
                        scaler.design<float>(sparse(Dense{{1, 2, 3}}));
                      })
                .find(words),
            std::string::npos);
  EXPECT_THROW(Scaler::learn(Scaling::none, Dense(0, 3), true), Error);
}

}  // namespace
}  // namespace lipschitzlr::data
