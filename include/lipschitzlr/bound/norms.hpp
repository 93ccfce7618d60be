#pragma once
// Norms of a feature matrix X (one example a row): the numbers every Lipschitz constant is made of. All sums are in
// double, row by row, so that a single-precision matrix loses nothing beyond its own rounding; entries of any finite
// size are safe, because matrices with very large or very small entries are scaled by a power of two first. A matrix
// that is not finite has a norm that is not finite. Each is defined for dense, sparse and streamed rows, float and
// double. With a communicator the matrix is this process' rows, possibly none, and the norm that of all rows of all
// processes: the same bits in each.

#include <cstdint>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/parallel.hpp"

namespace lipschitzlr::bound {

// ||X||_F = sqrt(sum_ij x_ij^2)
template <class Matrix>
double frobenius_norm(const Matrix& matrix, Communicator* communicator = nullptr);

// sum_i ||x_i||, over the rows
template <class Matrix>
double row_norm_sum(const Matrix& matrix, Communicator* communicator = nullptr);

// max_i ||x_i||, over the rows; 0 when there are none
template <class Matrix>
double row_norm_max(const Matrix& matrix, Communicator* communicator = nullptr);

// ||X o X||_F = sqrt(sum_ij x_ij^4), of the elementwise squares
template <class Matrix>
double square_frobenius_norm(const Matrix& matrix, Communicator* communicator = nullptr);

// sum_ij x_ij and sum_ij x_ij^3: with the norms above the power sums that a shift of all entries needs.
template <class Matrix>
double entry_sum(const Matrix& matrix, Communicator* communicator = nullptr);
template <class Matrix>
double entry_cube_sum(const Matrix& matrix, Communicator* communicator = nullptr);

// ||X'X||_F. A dense matrix is multiplied along its longer side, so that the product is no larger than X itself
// (||X'X||_F = ||XX'||_F); a sparse one is multiplied row by row and no product is stored. With
// several processes a tall dense matrix costs the traffic of X'X once, any other one that of X: a wide one is exchanged
// in blocks of columns, a sparse one is gathered in every process while it is measured.
template <class Matrix>
double gram_frobenius_norm(const Matrix& matrix, Communicator* communicator = nullptr);

// ||y'X||. Throws Error (usage) unless y has one entry per row.
template <class Matrix>
double target_product_norm(const Matrix& matrix, const Vector<typename Matrix::Scalar>& y,
                           Communicator* communicator = nullptr);

struct SpectralOptions {
  double tolerance = 1e-10;    // stop when ||X'Xv - theta v|| <= tolerance * theta for the best pair (theta, v)
  int max_iterations = 1000;   // passes over X, one each
  std::uint64_t seed = 1;      // of the random start
  ThreadPool* pool = nullptr;  // runs the passes; the bits do not depend on it
  Communicator* communicator = nullptr;  // when these are some of its rows; sums n numbers in every pass
};

struct SpectralNorm {
  double value;           // sqrt(theta): never above sigma_max but for rounding
  double relative_error;  // estimated share by which sigma_max may be larger; the tolerance at least
  int iterations;
  bool converged;  // false: max_iterations passed first; the value is still a lower estimate

  // The value with its estimated error added: what a guarantee should be built on.
  double upper() const { return value * (1 + relative_error); }
};

// sigma_max(X), the largest singular value, by Lanczos iteration on X'X with full reorthogonalisation and thick
// restarts: one pass over X a step, memory for at most 64 vectors of n numbers. The value is a lower estimate, within
// the tolerance when converged: the residual bounds the distance to a singular value, and the random start makes it
// the largest one with probability one. Zero, one-row, one-column matrices and equal singular values are fine.
template <class Matrix>
SpectralNorm spectral_norm(const Matrix& matrix, const SpectralOptions& options = {});

}  // namespace lipschitzlr::bound
