#include "linear/row_space.hpp"

#include "linear/full_pass.hpp"
#include "linear/row_blocks.hpp"
#include "lipschitzlr/linear/gram.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kWide = 2;              // features for each row
constexpr Index kMostSpaceRows = 3000;  // the Cholesky factor of more takes longer than other solvers
constexpr Index kTransposedBlock = 64;
constexpr double kLeastReciprocal = 1e-10;  // of the condition of FF': rounding must not reach the sixth digit
constexpr double kLeftOver = 1e-8;  // the squared share of a row that the others do not make up, which is then left out

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
std::optional<RowSpace<Scalar>> RowSpace<Scalar>::of(const Problem<Scalar>& problem) {
  const Penalty& penalty = problem.setup().penalty;
  const Index rows = problem.rows(), spared = penalty.spare_last ? 1 : 0, kept = problem.features() - spared;
  const bool only_l2 = penalty.tikhonov.empty() && penalty.l1 == 0;
  if (!only_l2 || problem.communicator() != nullptr || !is_wide(shape_of(problem))) return {};
  return std::visit(
      [&](const auto& given) -> std::optional<RowSpace> {
        const auto& matrix = held(given, problem.pool());
        const Eigen::MatrixXd products = gram(transposed(matrix, kept, problem.pool()), {}, problem.pool());
        for (Index rank = rows; rank >= std::max<Index>(1, rows - 1); --rank) {
          Cholesky factor(products.topLeftCorner(rank, rank), &problem.pool());
          if (!factor.succeeded() || !(factor.reciprocal_condition() > kLeastReciprocal)) continue;
          DenseMatrix<double> design(rows, rank + spared);
          design.topLeftCorner(rank, rank) = factor.lower();
          if (rank < rows) {
            const Eigen::VectorXd last =
                design.topLeftCorner(rank, rank).transpose() * factor.solve(products.col(rank).head(rank));
            if (!(products(rank, rank) - last.squaredNorm() <= kLeftOver * products(rank, rank))) return {};
            design.row(rank).head(rank) = last.transpose();
          }
          if (spared > 0) design.col(rank) = matrix.col(kept).template cast<double>();
          return RowSpace(problem, std::move(factor), std::move(design));
        }
        return {};
      },
      problem.matrix());
}

template <class Scalar>
RowSpace<Scalar>::RowSpace(const Problem<Scalar>& problem, Cholesky factor, DenseMatrix<double> design)
    : problem_(&problem),
      factor_(std::move(factor)),
      rank_(design.cols() - (problem.setup().penalty.spare_last ? 1 : 0)),
      reduced_(std::make_unique<Problem<double>>(std::move(design), problem.targets().template cast<double>(),
                                                 problem.setup(), problem.pool(), nullptr, problem.row_weights())) {}

template <class Scalar>
Weights<double> RowSpace<Scalar>::expanded(const Weights<double>& v) const {
  Weights<double> shares = Weights<double>::Zero(problem_->rows(), v.cols());
  shares.topRows(rank_) = factor_.solve_upper(v.topRows(rank_));
  Weights<double> weights = transposed_product(*problem_, shares);
  if (v.rows() > rank_) weights.bottomRows(1) = v.bottomRows(1);
  return weights;
}

template <class Scalar>
std::optional<Weights<Scalar>> optimum_in_row_space(const Problem<Scalar>& problem, double gap_share) {
  if (!(problem.setup().penalty.l2 > 0)) return {};
  std::optional<RowSpace<Scalar>> space = RowSpace<Scalar>::of(problem);
  if (!space) return {};
  const auto outcome = solve(space->reduced(), {.epochs = 1000, .gap_tolerance = gap_share}, State<double>{});
  return Weights<Scalar>(space->expanded(outcome.state.weights).template cast<Scalar>());
}

template class RowSpace<float>;
template class RowSpace<double>;
template std::optional<Weights<float>> optimum_in_row_space(const Problem<float>&, double);
template std::optional<Weights<double>> optimum_in_row_space(const Problem<double>&, double);

}  // namespace lipschitzlr::linear
