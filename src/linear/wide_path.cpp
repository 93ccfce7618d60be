#include "linear/wide_path.hpp"

#include <algorithm>
#include <cmath>

#include "linear/shifted_systems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/norms.hpp"
#include "lipschitzlr/linear/gram.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kMostRows = 3000;
constexpr Index kGatheredColumns = 64;
constexpr double kFarMean = 1e4;  // times the variance: a square of the mean that would cost K digits

// A column over the training rows alone.
struct ColumnSummary {
  double mean, variance;
};

// training: the weights of the rows, which sum to 1; 0 for those held out.
ColumnSummary summary_of(const Eigen::Ref<const Eigen::RowVectorXd>& column, const Vector<double>& training) {
  const double mean = column.dot(training);
  const double square = column.cwiseAbs2().dot(training), variance = square - mean * mean;
  if (variance * kFarMean > square || square == 0) return {mean, variance};
  double low = INFINITY, high = -INFINITY;
  for (Index i = 0; i < column.size(); ++i) {
    if (training[i] > 0) low = std::min(low, column[i]), high = std::max(high, column[i]);
  }
  if (low == high) return {low, 0};
  return {mean, (column.array() - mean).square().matrix().dot(training)};
}

}  // namespace

bool is_wide_path(Index rows, Index columns) { return rows <= kMostRows && columns > rows; }

WidePath::WidePath(const data::TableView& training, const FitOptions& options, const Rounds& rounds, ThreadPool& pool)
    : pool_(pool),
      l2_(options.penalty.l2),
      scaled_(options.scaling.value_or(data::Scaling::standard) == data::Scaling::standard),
      units_(data::Scaler::learn(data::Scaling::standard, training.features, true, {}, options.row_weights)) {
  std::vector<bool> held(static_cast<std::size_t>(training.rows()));
  for (const auto& round : rounds) {
    parts_.emplace_back();
    for (const auto& part : round) {
      parts_.back().push_back({static_cast<Index>(order_.size()), static_cast<Index>(part.size())});
      order_.insert(order_.end(), part.begin(), part.end());
      for (const Index row : part) held[static_cast<std::size_t>(row)] = true;
    }
  }
  for (Index row = 0; row < training.rows(); ++row) {
    if (!held[static_cast<std::size_t>(row)]) order_.push_back(row);
  }
  targets_ = training.target(order_);
  row_weights_ = options.row_weights.size() == 0 ? Vector<double>(Vector<double>::Ones(training.rows()))
                                                 : Vector<double>(options.row_weights(order_));
  if (const auto* view = std::get_if<DenseView<double>>(&training.features)) {
    gather(*view);
  } else if (const auto* rows = std::get_if<StreamedRows<double>>(&training.features)) {
    gather(data::view_of(rows->dense(&pool_)));
  } else {
    gather(std::get<DenseView<float>>(training.features));
  }
}

template <class Scalar>
void WidePath::gather(const DenseView<Scalar>& x) {
  columns_.resize(x.cols(), x.rows());
  pool_.run(static_cast<std::size_t>((x.cols() + kGatheredColumns - 1) / kGatheredColumns), [&](std::size_t block) {
    const Index first = static_cast<Index>(block) * kGatheredColumns;
    const Index count = std::min(kGatheredColumns, x.cols() - first);
    for (Index i = 0; i < x.rows(); ++i) {
      const Scalar* const row = x.data() + order_[static_cast<std::size_t>(i)] * x.cols();
      for (Index j = first; j < first + count; ++j) {
        const auto at = static_cast<std::size_t>(j);
        columns_(j, i) = (static_cast<double>(row[j]) - units_.offsets[at]) * units_.factors[at];
      }
    }
  });
}

// K of all rows, the columns in the units of the training rows.
Eigen::MatrixXd WidePath::products(const Vector<double>& training) const {
  Vector<double> squares(columns_.rows()), shifts = Vector<double>::Zero(columns_.rows());
  pool_.run(static_cast<std::size_t>((columns_.rows() + kGatheredColumns - 1) / kGatheredColumns),
            [&](std::size_t block) {
              const Index first = static_cast<Index>(block) * kGatheredColumns;
              for (Index j = first; j < std::min(columns_.rows(), first + kGatheredColumns); ++j) {
                const ColumnSummary summary = summary_of(columns_.row(j), training);
                const double unit = 1 / units_.factors[static_cast<std::size_t>(j)];
                squares[j] = scaled_ && summary.variance > 0 ? 1 / summary.variance : unit * unit;
                if (summary.mean * summary.mean > kFarMean * summary.variance) shifts[j] = summary.mean;
              }
            });
  if (shifts.isZero(0)) return gram(columns_, squares, pool_);
  return gram(DenseMatrix<double>(columns_.colwise() - shifts), squares, pool_);
}

double WidePath::first_lambda() const {
  const Vector<double> shares = row_weights_ / row_weights_.sum();
  const Vector<double> roots = shares.cwiseSqrt();
  const DenseMatrix<double> matrix = roots.asDiagonal() * products(shares) * roots.asDiagonal();
  return std::max(1.0, bound::spectral_norm(matrix).upper()) + l2_;
}

std::vector<Eigen::MatrixXd> WidePath::losses(std::size_t first, std::size_t last,
                                              const std::vector<double>& lambdas) const {
  std::vector<Eigen::MatrixXd> all;
  for (std::size_t round = first; round < last; ++round) all.push_back(losses_of(parts_[round], lambdas));
  return all;
}

Eigen::MatrixXd WidePath::losses_of(const std::vector<Range>& parts, const std::vector<double>& lambdas) const {
  Vector<double> shares = row_weights_;
  for (const Range& part : parts) shares.segment(part.first, part.count).setZero();
  if (!(shares.sum() > 0)) throw Error(Fault::data, "the weights of the rows are all 0");
  shares /= shares.sum();
  Eigen::MatrixXd k = products(shares);
  // The means taken away from both sides.
  const Vector<double> sides = k * shares;
  k.colwise() -= sides;
  k.rowwise() -= (sides.array() - shares.dot(sides)).matrix().transpose();
  const double mean = targets_.dot(shares);
  const Vector<double> roots = shares.cwiseSqrt();  // 0 for the rows held out, which leaves them out of the equations
  std::vector<double> shifts = lambdas;
  for (double& shift : shifts) shift += l2_;
  const ShiftedSystems systems(roots.asDiagonal() * k * roots.asDiagonal(),
                               roots.cwiseProduct((targets_.array() - mean).matrix()),
                               *std::min_element(shifts.begin(), shifts.end()));
  const Eigen::MatrixXd combinations = roots.asDiagonal() * systems.solve(shifts);
  Eigen::MatrixXd losses(static_cast<Index>(parts.size()), combinations.cols());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto [first, count] = parts[part];
    const Vector<double> weights = row_weights_.segment(first, count);
    const double total = weights.sum();
    Eigen::MatrixXd residuals = k.middleRows(first, count) * combinations;
    residuals.colwise() -= (targets_.segment(first, count).array() - mean).matrix();
    losses.row(static_cast<Index>(part)) = weights.transpose() * residuals.cwiseAbs2() / (total > 0 ? 2 * total : 1);
  }
  return losses;
}

}  // namespace lipschitzlr::linear
