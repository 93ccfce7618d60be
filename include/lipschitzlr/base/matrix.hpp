#pragma once
// The matrix types every folder shares: Eigen's, row by row, because a row is one example.

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstdint>

namespace lipschitzlr {

using Eigen::Index;

template <class Scalar>
using DenseMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Compressed sparse rows with 32-bit indices: at most 2^31-1 stored values.
template <class Scalar>
using SparseMatrix = Eigen::SparseMatrix<Scalar, Eigen::RowMajor, std::int32_t>;

// The same in memory that belongs to somebody else, which must outlive the view.
template <class Scalar>
using DenseView = Eigen::Map<const DenseMatrix<Scalar>>;
template <class Scalar>
using SparseView = Eigen::Map<const SparseMatrix<Scalar>>;

template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

}  // namespace lipschitzlr
