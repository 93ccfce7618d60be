#pragma once

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::bound {

inline DenseMatrix<double> random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  return DenseMatrix<double>::NullaryExpr(rows, columns, [&] { return random.normal(); });
}

}  // namespace lipschitzlr::bound
