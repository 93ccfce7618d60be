#include "lipschitzlr/bound/tikhonov.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <limits>

#include "bound/random_matrix.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {
namespace {

// Each kind of penalty with the matrix it stands for.
std::vector<std::pair<Tikhonov, DenseMatrix<double>>> kinds() {
  const Vector<double> diagonal{{1, -2, 0.5, 0}};
  const DenseMatrix<double> square = random_matrix(4, 4, 1);
  const DenseMatrix<double> tall = random_matrix(6, 4, 2);
  const DenseMatrix<double> difference{{1, -1, 0, 0}, {0, 1, -1, 0}, {0, 0, 1, -1}};
  return {{Tikhonov(), DenseMatrix<double>::Zero(4, 4)},
          {Tikhonov(-1.5), -1.5 * DenseMatrix<double>::Identity(4, 4)},
          {Tikhonov(diagonal), DenseMatrix<double>(diagonal.asDiagonal())},
          {Tikhonov(square), square},
          {Tikhonov(tall), tall},
          {Tikhonov(difference), difference}};
}

TEST(Tikhonov, ValueAndGradientAreThoseOfTheMatrix) {
  const DenseMatrix<double> w = random_matrix(4, 3, 3);
  for (const auto& [penalty, gamma] : kinds()) {
    EXPECT_NEAR(penalty.value(w), (gamma * w).squaredNorm(), 1e-12);
    DenseMatrix<double> gradient = DenseMatrix<double>::Ones(4, 3);
    penalty.add_gradient(w, gradient);
    for (Index i = 0; i < w.size(); ++i) {
      const double step = 1e-5;
      DenseMatrix<double> up = w, down = w;
      up.data()[i] += step;
      down.data()[i] -= step;
      EXPECT_NEAR(1 + (penalty.value(up) - penalty.value(down)) / (2 * step), gradient.data()[i], 1e-8);
    }
    const DenseMatrix<float> single = w.cast<float>();
    DenseMatrix<float> single_gradient = DenseMatrix<float>::Ones(4, 3);
    penalty.add_gradient(single, single_gradient);
    EXPECT_NEAR(penalty.value(single), penalty.value(w), 1e-5 * (1 + penalty.value(w)));
    EXPECT_LE((single_gradient.cast<double>() - gradient).norm(), 1e-5 * gradient.norm());
  }
}

TEST(Tikhonov, NormsAreThoseOfTheMatrix) {
  for (const auto& [penalty, gamma] : kinds()) {
    const DenseMatrix<double> gram = gamma.transpose() * gamma;
    const double expected = Eigen::JacobiSVD<Eigen::MatrixXd>(gram).singularValues()[0];
    EXPECT_NEAR(penalty.gram_spectral_norm(), expected, 1e-9 * expected);
    EXPECT_GE(penalty.gram_spectral_norm(), expected * (1 - 1e-14));
    if (gamma.rows() == 4) {
      EXPECT_NEAR(penalty.square_norm(4), (gamma * gamma).norm(), 1e-12);
    } else {
      EXPECT_THROW(penalty.square_norm(4), Error);
    }
  }
}

TEST(Tikhonov, OnlyTheDefaultIsEmpty) {
  for (const auto& [penalty, gamma] : kinds()) EXPECT_EQ(penalty.empty(), gamma.isZero());
  EXPECT_EQ(Tikhonov(2.0).features(), 0);
  EXPECT_EQ(Tikhonov(Vector<double>(Vector<double>::Ones(5))).features(), 5);
}

TEST(Tikhonov, SizesThatDoNotFitAreRefused) {
  const DenseMatrix<double> w = DenseMatrix<double>::Ones(5, 1);
  DenseMatrix<double> gradient = w;
  for (const Tikhonov& penalty : {Tikhonov(Vector<double>{{1, 2}}), Tikhonov(DenseMatrix<double>{{1, 2}, {3, 4}})}) {
    EXPECT_THROW(penalty.value(w), Error);
    EXPECT_THROW(penalty.add_gradient(w, gradient), Error);
    EXPECT_THROW(penalty.square_norm(5), Error);
  }
  DenseMatrix<double> narrow(4, 1);
  EXPECT_THROW(Tikhonov(1.0).add_gradient(w, narrow), Error);
  EXPECT_THROW(Tikhonov(std::numeric_limits<double>::infinity()), Error);
  EXPECT_THROW(Tikhonov(Vector<double>{{1, std::nan("")}}), Error);
  EXPECT_THROW(Tikhonov(DenseMatrix<double>{{1, std::nan("")}}), Error);
}

}  // namespace
}  // namespace lipschitzlr::bound
