#include "lipschitzlr/linear/penalty.hpp"

namespace lipschitzlr::linear {

template <class Scalar>
double add_penalty(const Penalty& penalty, const Weights<Scalar>& weights, Weights<Scalar>& gradient) {
  double value = 0;
  if (penalty.l2 != 0) {
    gradient += static_cast<Scalar>(penalty.l2) * weights;
    value += penalty.l2 / 2 * weights.template cast<double>().squaredNorm();
  }
  if (!penalty.tikhonov.empty()) {
    value += penalty.tikhonov.value(weights);
    penalty.tikhonov.add_gradient(weights, gradient);
  }
  return value;
}

template double add_penalty(const Penalty&, const Weights<float>&, Weights<float>&);
template double add_penalty(const Penalty&, const Weights<double>&, Weights<double>&);

}  // namespace lipschitzlr::linear
