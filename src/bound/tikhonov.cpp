#include "lipschitzlr/bound/tikhonov.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
// clang below version 17 cannot deduce these by itself.
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

void check_finite(bool finite) {
  if (!finite) throw Error(Fault::usage, "the Tikhonov factor Gamma has an entry that is not a finite number");
}

}  // namespace

Tikhonov::Tikhonov() = default;

Tikhonov::Tikhonov(double gamma) : gamma_(gamma) { check_finite(std::isfinite(gamma)); }

Tikhonov::Tikhonov(Vector<double> diagonal) : gamma_(std::move(diagonal)) {
  check_finite(std::get<Vector<double>>(gamma_).allFinite());
}

Tikhonov::Tikhonov(DenseMatrix<double> gamma) : gamma_(std::move(gamma)) {
  check_finite(std::get<DenseMatrix<double>>(gamma_).allFinite());
}

bool Tikhonov::empty() const { return std::holds_alternative<std::monostate>(gamma_); }

Index Tikhonov::features() const {
  return std::visit(Overloaded{[](std::monostate) { return Index{0}; }, [](double) { return Index{0}; },
                               [](const Vector<double>& diagonal) { return Index{diagonal.size()}; },
                               [](const DenseMatrix<double>& matrix) { return Index{matrix.cols()}; }},
                    gamma_);
}

void Tikhonov::check_fits(Index features) const {
  const bool any = empty() || std::holds_alternative<double>(gamma_);
  if (any || this->features() == features) return;
  throw Error(Fault::usage, fmt::format("the Tikhonov factor Gamma is made for {} features, but the weights have {}",
                                        this->features(), features));
}

template <class Scalar>
double Tikhonov::value(const DenseMatrix<Scalar>& weights) const {
  check_fits(weights.rows());
  const DenseMatrix<double> w = weights.template cast<double>();
  return std::visit(
      Overloaded{[](std::monostate) { return 0.0; }, [&](double gamma) { return gamma * gamma * w.squaredNorm(); },
                 [&](const Vector<double>& diagonal) { return (diagonal.asDiagonal() * w).squaredNorm(); },
                 [&](const DenseMatrix<double>& matrix) { return (matrix * w).squaredNorm(); }},
      gamma_);
}

template <class Scalar>
void Tikhonov::add_gradient(const DenseMatrix<Scalar>& weights, DenseMatrix<Scalar>& gradient) const {
  check_fits(weights.rows());
  if (gradient.rows() != weights.rows() || gradient.cols() != weights.cols()) {
    throw Error(Fault::usage, fmt::format("the gradient is {} x {}, but the weights are {} x {}", gradient.rows(),
                                          gradient.cols(), weights.rows(), weights.cols()));
  }
  const DenseMatrix<double> w = weights.template cast<double>();
  const auto add = [&](const DenseMatrix<double>& term) { gradient += (2 * term).template cast<Scalar>(); };
  std::visit(Overloaded{[](std::monostate) {}, [&](double gamma) { add(gamma * gamma * w); },
                        [&](const Vector<double>& diagonal) { add(diagonal.cwiseAbs2().asDiagonal() * w); },
                        [&](const DenseMatrix<double>& matrix) { add(matrix.transpose() * (matrix * w)); }},
             gamma_);
}

double Tikhonov::square_norm(Index features) const {
  check_fits(features);
  return std::visit(Overloaded{[](std::monostate) { return 0.0; },
                               [&](double gamma) { return std::sqrt(static_cast<double>(features)) * gamma * gamma; },
                               [](const Vector<double>& diagonal) { return diagonal.cwiseAbs2().norm(); },
                               [](const DenseMatrix<double>& matrix) {
                                 if (matrix.rows() != matrix.cols()) {
                                   throw Error(Fault::usage,
                                               fmt::format("||Gamma^2|| as published needs a square Gamma, but it is "
                                                           "{} x {}; use the certified constant",
                                                           matrix.rows(), matrix.cols()));
                                 }
                                 return (matrix * matrix).norm();
                               }},
                    gamma_);
}

double Tikhonov::gram_spectral_norm() const {
  const auto square = [](double size) { return size * size; };
  return std::visit(
      Overloaded{[](std::monostate) { return 0.0; }, [&](double gamma) { return square(gamma); },
                 [&](const Vector<double>& diagonal) {
                   return diagonal.size() == 0 ? 0.0 : square(diagonal.cwiseAbs().maxCoeff());
                 },
                 [&](const DenseMatrix<double>& matrix) { return square(spectral_norm(matrix).upper()); }},
      gamma_);
}

template double Tikhonov::value(const DenseMatrix<float>&) const;
template double Tikhonov::value(const DenseMatrix<double>&) const;
template void Tikhonov::add_gradient(const DenseMatrix<float>&, DenseMatrix<float>&) const;
template void Tikhonov::add_gradient(const DenseMatrix<double>&, DenseMatrix<double>&) const;

}  // namespace lipschitzlr::bound
