#include "linear/row_space.hpp"

#include "lipschitzlr/base/cholesky.hpp"
#include "lipschitzlr/linear/gram.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kWide = 2;              // features for each row
constexpr Index kMostSpaceRows = 3000;  // the Cholesky factor of more takes longer than other solvers
constexpr Index kTransposedBlock = 64;
constexpr double kLeastReciprocal = 1e-10;  // of the condition of FF': rounding must not reach the sixth digit

// F' of the first columns, row after row.
template <class Scalar>
DenseMatrix<Scalar> transposed(const DenseMatrix<Scalar>& matrix, Index columns, ThreadPool& pool) {
  DenseMatrix<Scalar> result(columns, matrix.rows());
  pool.run(static_cast<std::size_t>((columns + kTransposedBlock - 1) / kTransposedBlock), [&](std::size_t number) {
    const Index first = static_cast<Index>(number) * kTransposedBlock;
    const Index count = std::min(kTransposedBlock, columns - first);
    for (Index row = 0; row < matrix.rows(); row += kTransposedBlock) {
      const Index rows = std::min(kTransposedBlock, matrix.rows() - row);
      result.block(first, row, count, rows) = matrix.block(row, first, rows, count).transpose();
    }
  });
  return result;
}

template <class Scalar>
SparseMatrix<Scalar> transposed(const SparseMatrix<Scalar>& matrix, Index columns, ThreadPool&) {
  return SparseMatrix<Scalar>(matrix.transpose()).topRows(columns);
}

}  // namespace

bool is_wide(const Shape& shape) { return shape.rows <= kMostSpaceRows && shape.features >= kWide * shape.rows; }

template <class Scalar>
std::optional<Weights<Scalar>> optimum_in_row_space(const Problem<Scalar>& problem, double gap_share) {
  const Penalty& penalty = problem.setup().penalty;
  const Index rows = problem.rows(), spared = penalty.spare_last ? 1 : 0, kept = problem.features() - spared;
  const bool only_l2 = penalty.l2 > 0 && penalty.tikhonov.empty() && penalty.l1 == 0;
  if (!only_l2 || problem.communicator() != nullptr || !is_wide(shape_of(problem))) return {};
  return std::visit(
      [&](const auto& matrix) -> std::optional<Weights<Scalar>> {
        const auto columns = transposed(matrix, kept, problem.pool());
        const Cholesky factor(gram(columns, {}, problem.pool()), &problem.pool());
        if (!(factor.reciprocal_condition() > kLeastReciprocal)) return {};
        DenseMatrix<double> design(rows, rows + spared);
        design.leftCols(rows) = factor.lower();
        if (spared > 0) design.col(rows) = matrix.col(kept).template cast<double>();
        const Problem<double> reduced(std::move(design), problem.targets().template cast<double>(), problem.setup(),
                                      problem.pool(), nullptr, problem.row_weights());
        const auto outcome = solve(reduced, {.epochs = 1000, .gap_tolerance = gap_share}, State<double>{});
        const Weights<double>& v = outcome.state.weights;
        const Weights<double> shares = factor.solve_upper(v.topRows(rows));
        Weights<Scalar> weights(problem.features(), v.cols());
        weights.topRows(kept) = columns * shares.template cast<Scalar>();
        if (spared > 0) weights.row(kept) = v.row(rows).template cast<Scalar>();
        return weights;
      },
      problem.matrix());
}

template std::optional<Weights<float>> optimum_in_row_space(const Problem<float>&, double);
template std::optional<Weights<double>> optimum_in_row_space(const Problem<double>&, double);

}  // namespace lipschitzlr::linear
