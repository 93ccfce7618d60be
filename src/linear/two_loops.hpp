#pragma once
// Nocedal's two loops of L-BFGS: the gradient times an inverse Hessian that is made of the last steps.

#include <vector>

#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

inline double dot(const Weights<double>& a, const Weights<double>& b) { return a.cwiseProduct(b).sum(); }

// pairs: s and y of each step, the change of the weights and of the gradient, the oldest first. in_coordinates(g) is
// M^-1 g, what the inverse is without them, up to a factor that the last pair gives.
template <class Coordinates>
Weights<double> two_loops(const std::vector<Weights<double>>& pairs, Weights<double> g,
                          const Coordinates& in_coordinates) {
  std::vector<double> shares(pairs.size() / 2);
  for (std::size_t i = shares.size(); i-- > 0;) {
    const Weights<double>&s = pairs[2 * i], &y = pairs[2 * i + 1];
    shares[i] = dot(s, g) / dot(s, y);
    g -= shares[i] * y;
  }
  g = in_coordinates(g);
  if (!pairs.empty()) {
    const Weights<double>&s = pairs[pairs.size() - 2], &y = pairs.back();
    g *= dot(s, y) / dot(y, in_coordinates(y));
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Weights<double>&s = pairs[2 * i], &y = pairs[2 * i + 1];
    g += (shares[i] - dot(y, g) / dot(s, y)) * s;
  }
  return g;
}

}  // namespace lipschitzlr::linear
