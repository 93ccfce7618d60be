#include "linear/full_pass.hpp"

#include <algorithm>
#include <cmath>

#include "linear/row_blocks.hpp"
#include "lipschitzlr/base/collective.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kPassChunks = 64, kPassLeastRows = 64;

// Calls task(first row, count, number) for chunks of the rows that depend on their number only; returns how many.
template <class Task>
Index for_each_chunk(Index rows, ThreadPool& pool, const Task& task) {
  const Index size = std::max(kPassLeastRows, (rows + kPassChunks - 1) / kPassChunks);
  const Index count = (rows + size - 1) / size;
  pool.run(static_cast<std::size_t>(count), [&](std::size_t number) {
    const Index first = static_cast<Index>(number) * size;
    task(first, std::min(size, rows - first), number);
  });
  return count;
}

struct Part {
  double loss = 0;
  bool separated = true;
  Weights<double> gradient;
};

// Turns one row of scores into probabilities and returns how far they are from certainty of the largest: the sum of the
// other numerators, small ones with their digits.
double to_probabilities(Index best, Eigen::Ref<Eigen::RowVectorXd> scores) {
  scores = (scores.array() - scores[best]).exp();
  scores[best] = 0;
  const double rest = scores.sum();
  scores[best] = 1;
  scores /= 1 + rest;
  return rest;
}

bool is_largest(Index own, Index best, const Eigen::Ref<const Eigen::RowVectorXd>& scores) {
  return best == own && (scores.array() == scores[best]).count() == 1;
}

// Turns one row of scores into residuals in place, times the row's weight, and its probabilities, where there are any.
void finish_row(Family family, double target, double weight, Eigen::Ref<Eigen::RowVectorXd> scores,
                Eigen::Ref<Eigen::RowVectorXd> probabilities, Part& part) {
  if (family == Family::linear) {
    scores[0] -= target;
    part.loss += weight * (scores[0] * scores[0] / 2);
    part.separated = false;
  } else if (family == Family::logistic) {
    const double z = scores[0], small = std::exp(-std::abs(z));
    part.loss += weight * (std::max(z, 0.0) - target * z + std::log1p(small));
    probabilities[0] = (z > 0 ? 1 : small) / (1 + small);
    part.separated &= weight == 0 || (target == 1 ? z > 0 : z < 0);
    scores[0] = z > 0 && target == 1 ? -small / (1 + small) : probabilities[0] - target;
  } else {
    const auto own = static_cast<Index>(target);
    Index best = 0;
    const double highest = scores.maxCoeff(&best), mine = scores[own];
    part.separated &= weight == 0 || is_largest(own, best, scores);
    part.loss += weight * (highest - mine + std::log1p(to_probabilities(best, scores)));
    probabilities = scores;
    scores[own] = 0;
    scores[own] = -scores.sum();
  }
  if (weight != 1) scores *= weight;
}

// The squares of some rows, times the rows' weights.
template <class Matrix>
void add_squares(const Matrix& matrix, Index first, Index count, const Vector<double>& weights,
                 Vector<double>& squares) {
  for_each_block(matrix, first, count, [&](Index top, const auto& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      squares += (weights.size() == 0 ? 1 : weights[top + i]) * block.row(i).transpose().cwiseAbs2();
    }
  });
}

template <class Scalar>
void add_squares(const SparseMatrix<Scalar>& matrix, Index first, Index count, const Vector<double>& weights,
                 Vector<double>& squares) {
  for (Index row = first; row < first + count; ++row) {
    const double weight = weights.size() == 0 ? 1 : weights[row];
    for (typename SparseMatrix<Scalar>::InnerIterator cell(matrix, row); cell; ++cell) {
      squares[cell.col()] += weight * static_cast<double>(cell.value()) * static_cast<double>(cell.value());
    }
  }
}

}  // namespace

FullPass with_probabilities(const Problem<double>& problem, const Weights<double>& weights, double loss,
                            const Weights<double>& gradient) {
  FullPass pass{weights, loss, gradient, {}, false, {}};
  if (problem.setup().family == Family::linear) return pass;
  pass.probabilities =
      std::visit([&](const auto& matrix) { return scores(matrix, weights, problem.pool()); }, problem.matrix());
  std::vector<std::uint8_t> confused(kPassChunks);
  const auto& targets = problem.targets();
  const bool logistic = problem.setup().family == Family::logistic;
  for_each_chunk(targets.size(), problem.pool(), [&](Index first, Index count, std::size_t number) {
    for (Index i = first; i < first + count; ++i) {
      auto z = pass.probabilities.row(i);
      Index best = 0;
      if (!logistic) z.maxCoeff(&best);
      const bool weightless = problem.row_weights().size() > 0 && problem.row_weights()[i] == 0;
      const bool right =
          logistic ? (targets[i] == 1 ? z[0] > 0 : z[0] < 0) : is_largest(static_cast<Index>(targets[i]), best, z);
      confused[number] |= right || weightless ? 0 : 1;
      if (!logistic) to_probabilities(best, z);
    }
    auto block = pass.probabilities.middleRows(first, count).array();
    if (logistic) block = (1 + (-block).exp()).inverse();
  });
  const double wrong = *std::max_element(confused.begin(), confused.end());
  pass.separated = all_reduce_max(problem.communicator(), wrong) == 0;
  return pass;
}

template <class Scalar>
FullPass full_pass(const Problem<Scalar>& problem, const Weights<double>& weights) {
  const ProblemSetup& setup = problem.setup();
  if constexpr (std::is_same_v<Scalar, double>) {
    if (weights.cols() == 1) {
      Weights<double> gradient;
      const double loss = problem.evaluate(weights, gradient);
      return with_probabilities(problem, weights, loss, gradient);
    }
  }
  const Index rows = problem.targets().size();
  const Vector<double>& row_weights = problem.row_weights();
  FullPass pass;
  pass.weights = weights;
  pass.probabilities.resize(rows, setup.family == Family::linear ? 0 : weights.cols());
  std::vector<Part> parts(kPassChunks);
  std::visit(
      [&](const auto& matrix) {
        for_each_chunk(rows, problem.pool(), [&](Index first, Index count, std::size_t number) {
          Part& part = parts[number];
          part.gradient = Weights<double>::Zero(weights.rows(), weights.cols());
          for_each_block(matrix, first, count, [&](Index top, const auto& block) {
            DenseMatrix<double> scores = block * weights;
            for (Index i = 0; i < scores.rows(); ++i) {
              const double weight = row_weights.size() == 0 ? 1 : row_weights[top + i];
              finish_row(setup.family, static_cast<double>(problem.targets()[top + i]), weight, scores.row(i),
                         pass.probabilities.row(top + i), part);
            }
            part.gradient += block.transpose() * scores;
          });
        });
      },
      problem.matrix());
  // Loss, rows that are not separated, gradient: one sum over the processes.
  Vector<double> sums = Vector<double>::Zero(weights.size() + 2);
  for (const Part& part : parts) {
    sums[0] += part.loss;
    sums[1] += part.separated ? 0 : 1;
    if (part.gradient.size() > 0) sums.tail(weights.size()) += part.gradient.reshaped<Eigen::RowMajor>();
  }
  all_reduce_sum(problem.communicator(), sums);
  const double m = problem.total_weight();
  pass.gradient = Eigen::Map<const Weights<double>>(sums.data() + 2, weights.rows(), weights.cols()) / m;
  pass.separated = sums[1] == 0;
  pass.loss = sums[0] / m + add_penalty(setup.penalty, weights, pass.gradient);
  return pass;
}

template <class Scalar>
Weights<double> transposed_product(const Problem<Scalar>& problem, const DenseMatrix<double>& rows) {
  std::vector<Weights<double>> parts(kPassChunks);
  Weights<double> sum = Weights<double>::Zero(problem.features(), rows.cols());
  std::visit(
      [&](const auto& matrix) {
        const Index chunks = for_each_chunk(rows.rows(), problem.pool(), [&](Index first, Index count, std::size_t at) {
          parts[at] = Weights<double>::Zero(sum.rows(), sum.cols());
          for_each_block(matrix, first, count, [&](Index top, const auto& block) {
            parts[at] += block.transpose() * rows.middleRows(top, block.rows());
          });
        });
        for (Index at = 0; at < chunks; ++at) sum += parts[static_cast<std::size_t>(at)];
      },
      problem.matrix());
  all_reduce_sum(problem.communicator(), sum);
  return sum;
}

template <class Scalar>
Vector<double> column_squares(const Problem<Scalar>& problem) {
  std::vector<Vector<double>> parts(kPassChunks);
  Vector<double> sum = Vector<double>::Zero(problem.features());
  const Vector<double>& weights = problem.row_weights();
  std::visit(
      [&](const auto& matrix) {
        const Index chunks =
            for_each_chunk(matrix.rows(), problem.pool(), [&](Index first, Index count, std::size_t at) {
              parts[at] = Vector<double>::Zero(matrix.cols());
              add_squares(matrix, first, count, weights, parts[at]);
            });
        for (Index at = 0; at < chunks; ++at) sum += parts[static_cast<std::size_t>(at)];
      },
      problem.matrix());
  all_reduce_sum(problem.communicator(), sum);
  return sum;
}

template <class Scalar>
double largest_scaled_square(const Problem<Scalar>& problem, const Vector<double>& scale) {
  std::vector<double> parts(kPassChunks);
  std::visit(
      [&](const auto& matrix) {
        const Vector<double> squares = scale.cwiseAbs2();
        for_each_chunk(matrix.rows(), problem.pool(), [&](Index first, Index count, std::size_t at) {
          for_each_block(matrix, first, count, [&](Index, const auto& block) {
            const Vector<double> sums = block.cwiseProduct(block) * squares;
            const double largest = sums.maxCoeff();
            if (largest > parts[at] || std::isnan(largest)) parts[at] = largest;
          });
        });
      },
      problem.matrix());
  return all_reduce_max(problem.communicator(), *std::max_element(parts.begin(), parts.end()));
}

template FullPass full_pass(const Problem<float>&, const Weights<double>&);
template FullPass full_pass(const Problem<double>&, const Weights<double>&);
template Weights<double> transposed_product(const Problem<float>&, const DenseMatrix<double>&);
template Weights<double> transposed_product(const Problem<double>&, const DenseMatrix<double>&);
template Vector<double> column_squares(const Problem<float>&);
template Vector<double> column_squares(const Problem<double>&);
template double largest_scaled_square(const Problem<float>&, const Vector<double>&);
template double largest_scaled_square(const Problem<double>&, const Vector<double>&);

}  // namespace lipschitzlr::linear
