#include "linear/stepper.hpp"

#include <cmath>

namespace lipschitzlr::linear {
namespace {

template <class Scalar>
void start_at_zero(Weights<Scalar>& average, const Weights<Scalar>& like) {
  if (average.size() == 0) average = Weights<Scalar>::Zero(like.rows(), like.cols());
}

}  // namespace

template <class Scalar>
void Stepper<Scalar>::step(State<Scalar>& state, const Weights<Scalar>& gradient, double rate) {
  const auto size = static_cast<Scalar>(rate);
  ++state.step;
  switch (solver_) {
    case Solver::accelerated:
      accelerated(state, gradient, size);
      break;
    case Solver::adamo:
      adamo(state, gradient, size);
      break;
    case Solver::rmsprop:
      rmsprop(state, gradient, size);
      break;
    case Solver::auto_adam:
      auto_adam(state, gradient, size);
      break;
    default:  // gd, sgd
      state.weights.noalias() -= size * gradient;
  }
}

template <class Scalar>
void Stepper<Scalar>::restart(State<Scalar>& state) const {
  state.momentum = 1;
}

// state.weights is y, the point whose gradient is taken; state.first is w, the point before extrapolation.
template <class Scalar>
void Stepper<Scalar>::accelerated(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate) {
  if (state.first.size() == 0) state.first = state.weights;
  const double momentum = (1 + std::sqrt(1 + 4 * state.momentum * state.momentum)) / 2;
  const auto push = static_cast<Scalar>((state.momentum - 1) / momentum);
  next_ = state.weights - rate * gradient;
  state.weights.noalias() = next_ + push * (next_ - state.first);
  state.first.swap(next_);
  state.momentum = momentum;
}

template <class Scalar>
void Stepper<Scalar>::adamo(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate) {
  const auto beta = static_cast<Scalar>(options_.beta);
  start_at_zero(state.first, gradient);
  state.first = beta * state.first + (1 - beta) * gradient;
  state.weights.noalias() -= rate / static_cast<Scalar>(correction(options_.beta, state.step)) * state.first;
}

template <class Scalar>
void Stepper<Scalar>::rmsprop(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate) {
  const auto beta = static_cast<Scalar>(options_.beta);
  const auto unbias = static_cast<Scalar>(correction(options_.beta, state.step));
  start_at_zero(state.second, gradient);
  state.second = beta * state.second + (1 - beta) * gradient.cwiseAbs2();
  state.weights.array() -=
      rate * gradient.array() / ((state.second.array() / unbias).sqrt() + static_cast<Scalar>(options_.epsilon));
}

template <class Scalar>
void Stepper<Scalar>::auto_adam(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate) {
  const auto beta1 = static_cast<Scalar>(options_.beta1), beta2 = static_cast<Scalar>(options_.beta2);
  const auto unbias1 = static_cast<Scalar>(correction(options_.beta1, state.step));
  const auto unbias2 = static_cast<Scalar>(correction(options_.beta2, state.step));
  start_at_zero(state.first, gradient);
  start_at_zero(state.second, gradient);
  state.first = beta1 * state.first + (1 - beta1) * gradient;
  state.second = beta2 * state.second + (1 - beta2) * gradient.cwiseAbs2();
  state.weights.array() -= rate * (state.first.array() / unbias1) /
                           ((state.second.array() / unbias2).sqrt() + static_cast<Scalar>(options_.epsilon));
}

template <class Scalar>
double Stepper<Scalar>::correction(double beta, std::int64_t steps) const {
  return options_.bias_correction ? 1 - std::pow(beta, static_cast<double>(steps)) : 1;
}

template class Stepper<float>;
template class Stepper<double>;

}  // namespace lipschitzlr::linear
