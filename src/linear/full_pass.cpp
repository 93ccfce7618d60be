#include "linear/full_pass.hpp"

#include <algorithm>
#include <cmath>

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
    part.separated &= weight == 0 || (best == own && (scores.array() == highest).count() == 1);
    probabilities = (scores.array() - highest).exp();
    probabilities[best] = 0;
    const double rest = probabilities.sum();  // without the largest: small sums keep their digits
    part.loss += weight * (highest - mine + std::log1p(rest));
    probabilities[best] = 1;
    probabilities /= 1 + rest;
    scores = probabilities;
    scores[own] = 0;
    scores[own] = -scores.sum();
  }
  if (weight != 1) scores *= weight;
}

template <class Scalar>
void add_squares(const DenseMatrix<Scalar>& matrix, Index row, double weight, Vector<double>& squares) {
  squares += weight * matrix.row(row).transpose().template cast<double>().cwiseAbs2();
}

template <class Scalar>
void add_squares(const SparseMatrix<Scalar>& matrix, Index row, double weight, Vector<double>& squares) {
  for (typename SparseMatrix<Scalar>::InnerIterator cell(matrix, row); cell; ++cell) {
    squares[cell.col()] += weight * static_cast<double>(cell.value()) * static_cast<double>(cell.value());
  }
}

}  // namespace

FullPass with_probabilities(const Problem<double>& problem, const Weights<double>& weights, double loss,
                            const Weights<double>& gradient) {
  FullPass pass{weights, loss, gradient, {}, false};
  if (problem.setup().family == Family::linear) return pass;
  pass.probabilities =
      std::visit([&](const auto& matrix) { return scores(matrix, weights, problem.pool()); }, problem.matrix());
  std::vector<std::uint8_t> confused(kPassChunks);
  const auto& targets = problem.targets();
  for_each_chunk(targets.size(), problem.pool(), [&](Index first, Index count, std::size_t number) {
    auto z = pass.probabilities.col(0).segment(first, count).array();
    for (Index i = 0; i < count; ++i) {
      const double weight = problem.row_weights().size() == 0 ? 1 : problem.row_weights()[first + i];
      const bool right = weight == 0 || (targets[first + i] == 1 ? z[i] > 0 : z[i] < 0);
      confused[number] |= right ? 0 : 1;
    }
    z = (1 + (-z).exp()).inverse();
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
          const auto block = matrix.middleRows(first, count).template cast<double>();
          DenseMatrix<double> scores = block * weights;
          Part& part = parts[number];
          for (Index i = 0; i < count; ++i) {
            const double weight = row_weights.size() == 0 ? 1 : row_weights[first + i];
            finish_row(setup.family, static_cast<double>(problem.targets()[first + i]), weight, scores.row(i),
                       pass.probabilities.row(first + i), part);
          }
          part.gradient = block.transpose() * scores;
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
          parts[at] =
              matrix.middleRows(first, count).template cast<double>().transpose() * rows.middleRows(first, count);
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
              Vector<double>& squares = parts[at] = Vector<double>::Zero(matrix.cols());
              for (Index row = first; row < first + count; ++row) {
                add_squares(matrix, row, weights.size() == 0 ? 1 : weights[row], squares);
              }
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
          const auto block = matrix.middleRows(first, count).template cast<double>();
          const Vector<double> sums = block.cwiseProduct(block) * squares;
          parts[at] = sums.maxCoeff();
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
