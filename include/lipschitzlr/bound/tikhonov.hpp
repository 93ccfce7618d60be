#pragma once
// The Tikhonov penalty ||Gamma W||_F^2 (paper, section 6.3) with Gamma a number, a diagonal or any matrix, and the two
// norms its Lipschitz constants need. The number gamma means gamma I; L2 with factor lambda/2 is gamma =
// sqrt(lambda/2).

#include <variant>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::bound {

class Tikhonov {
 public:
  // No penalty. Not inline: gcc 12 would warn, wrongly, of an uninitialised variant in sanitized builds.
  Tikhonov();
  explicit Tikhonov(double gamma);               // gamma I, for weights of any size
  explicit Tikhonov(Vector<double> diagonal);    // one factor per feature
  explicit Tikhonov(DenseMatrix<double> gamma);  // p x n, for n features; p may differ from n
                                                 // Each throws Error (usage) on entries that are not finite.
  bool empty() const;
  Index features() const;  // the n it is made for; 0 when any will do

  // ||Gamma W||_F^2 for n x k weights, float or double. Throws Error (usage) when the sizes do not fit.
  template <class Scalar>
  double value(const DenseMatrix<Scalar>& weights) const;

  // gradient += 2 Gamma'Gamma W. Throws Error (usage) when the sizes do not fit.
  template <class Scalar>
  void add_gradient(const DenseMatrix<Scalar>& weights, DenseMatrix<Scalar>& gradient) const;

  // ||Gamma^2||_F for n features, as published: the paper names no norm here, and its notation (section 4.3) makes that
  // the Frobenius norm, sqrt(n) gamma^2 for a number. Throws Error (usage) when Gamma is not square or does not fit n.
  double square_norm(Index features) const;

  // ||Gamma'Gamma||_2, the smallest number that really bounds the gradient; Gamma may be rectangular.
  double gram_spectral_norm() const;

 private:
  void check_fits(Index features) const;
  std::variant<std::monostate, double, Vector<double>, DenseMatrix<double>> gamma_;
};

}  // namespace lipschitzlr::bound
