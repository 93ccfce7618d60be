#include "linear/least_squares_path.hpp"

#include <algorithm>
#include <cmath>

#include "linear/gram_lasso.hpp"
#include "linear/row_blocks.hpp"
#include "linear/shifted_systems.hpp"
#include "linear/wide_path.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/bound/norms.hpp"
#include "lipschitzlr/linear/gram.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kMostTallColumns = 2000;
constexpr double kMostNumbers = 1 << 25;          // of all Gram matrices together
constexpr double kVisible = 1e-9, kUnit = 1e-15;  // of a loss, and of one addition: what rounding may change

using RowList = std::vector<Index>;

// Sums over some rows: the Gram matrix of their columns in some units, of ones and of the target.
struct RoundSums {
  data::Scaler units;
  Eigen::MatrixXd training;
  std::vector<Eigen::MatrixXd> held;  // for each part; empty: those of all rounds serve
};

struct NormalEquations {
  DenseMatrix<double> matrix;
  Vector<double> right;
  double square;         // of the target
  Vector<double> units;  // of the design in those of the sums
};

class TallPath final : public LeastSquaresPath {
 public:
  TallPath(const data::TableView& training, const FitOptions& options, const Rounds& rounds, ThreadPool& pool,
           Communicator* communicator)
      : x_(training.features),
        y_(training.target),
        options_(options),
        rounds_(rounds),
        pool_(pool),
        communicator_(communicator),
        scaled_(options.scaling.value_or(data::Scaling::standard) == data::Scaling::standard),
        centred_(options.intercept && options.penalty.spare_last),
        target_shift_(centred_ ? mean_of_target() : 0),
        units_(learn(options.row_weights)) {
    std::vector<bool> held(static_cast<std::size_t>(y_.size()));
    total_ = Eigen::MatrixXd::Zero(columns() + 2, columns() + 2);
    for (const auto& round : rounds_) {
      sums_.emplace_back();
      for (const RowList& part : round) {
        sums_.back().push_back(sums_of(part, units_));
        total_ += sums_.back().back();
        for (const Index row : part) held[static_cast<std::size_t>(row)] = true;
      }
    }
    const RowList rest = rows_that_are(held, false);
    if (all_reduce_max(communicator_, rest.empty() ? 0.0 : 1.0) > 0) total_ += sums_of(rest, units_);
  }

  double first_lambda() const override {
    const NormalEquations equations = equations_of(total_, units_);
    if (options_.l1_share > 0) return equations.right.cwiseAbs().maxCoeff() / options_.l1_share;
    return std::max(1.0, bound::spectral_norm(equations.matrix, {.pool = &pool_}).upper()) + options_.penalty.l2;
  }

  std::vector<Eigen::MatrixXd> losses(std::size_t first, std::size_t last,
                                      const std::vector<double>& lambdas) const override {
    std::vector<RoundSums> rounds;  // those that need their rows again take all threads for it
    for (std::size_t round = first; round < last; ++round) rounds.push_back(sums_without(round));
    std::vector<Eigen::MatrixXd> all(last - first);
    const auto task = [&](std::size_t at) { all[at] = losses_of(first + at, rounds[at], lambdas); };
    if (communicator_ == nullptr) {
      pool_.run(all.size(), task);
    } else {
      for (std::size_t at = 0; at < all.size(); ++at) task(at);  // collective: in the order of the others
    }
    return all;
  }

 private:
  Index columns() const { return data::columns(x_); }
  // The penalised columns of the design: with the intercept's where it is one of them.
  Index weights() const { return columns() + (options_.intercept && !centred_ ? 1 : 0); }

  data::Scaler learn(const Vector<double>& row_weights) const {
    return data::Scaler::learn(centred_ ? data::Scaling::standard : data::Scaling::none, x_, true, {}, row_weights,
                               communicator_);
  }

  double mean_of_target() const {
    if (communicator_ == nullptr) return y_.mean();
    Vector<double> sums{{y_.sum(), static_cast<double>(y_.size())}};
    all_reduce_sum(communicator_, sums);
    return sums[0] / sums[1];
  }

  static RowList rows_that_are(const std::vector<bool>& marked, bool wanted) {
    RowList rows;
    for (std::size_t row = 0; row < marked.size(); ++row) {
      if (marked[row] == wanted) rows.push_back(static_cast<Index>(row));
    }
    return rows;
  }

  // The rows in the given units, a column of ones, which is the intercept's, and the target.
  StreamedRows<double> gathered(const RowList& rows, const data::Scaler& units) const {
    const auto fill = [this, scaled = units.streamed_design<double>(x_)](const Index* numbers, Index, Index count,
                                                                         double* to) {
      const Index width = scaled.cols();
      scaled.fill({numbers, static_cast<std::size_t>(count)}, to);
      for (Index i = count - 1; i >= 0; --i) {  // from the last, to make room for the target
        double* const end = to + i * (width + 1) + width;
        std::copy_backward(to + i * width, to + (i + 1) * width, end);
        *end = y_[numbers[i]] - target_shift_;
      }
    };
    const std::string obstacle = data::is_streamed(x_) ? std::get<StreamedRows<double>>(x_).obstacle() : "";
    return StreamedRows<double>(y_.size(), columns() + 2, fill).with_obstacle(obstacle).take(rows);
  }

  Vector<double> row_weights(const RowList& rows) const {
    return options_.row_weights.size() == 0 ? options_.row_weights : Vector<double>(options_.row_weights(rows));
  }

  Eigen::MatrixXd sums_of(const RowList& rows, const data::Scaler& units) const {
    const StreamedRows<double> streamed = gathered(rows, units);
    if (static_cast<std::size_t>(streamed.size()) > options_.most_held / sizeof(double)) {
      return gram(streamed, row_weights(rows), pool_, communicator_);
    }
    return gram(streamed.dense(&pool_), row_weights(rows), pool_, communicator_);
  }

  RoundSums sums_without(std::size_t round) const {
    RoundSums sums{units_, total_, {}};
    for (const Eigen::MatrixXd& part : sums_[round]) sums.training -= part;
    if (is_safe(sums.training)) return sums;
    std::vector<bool> held(static_cast<std::size_t>(y_.size()));
    Vector<double> weights = options_.row_weights;
    if (weights.size() == 0) weights = Vector<double>::Ones(y_.size());
    for (const RowList& part : rounds_[round]) {
      for (const Index row : part) held[static_cast<std::size_t>(row)] = true;
      weights(part).setZero();  // nothing is learned from them
    }
    sums.units = learn(weights);
    sums.training = sums_of(rows_that_are(held, false), sums.units);
    for (const RowList& part : rounds_[round]) sums.held.push_back(sums_of(part, sums.units));
    return sums;
  }

  // Whether enough is left of every column when the rows held out, and its mean, are taken away.
  bool is_safe(const Eigen::MatrixXd& training) const {
    const double m = training(columns(), columns());
    if (!(m > 0)) return false;
    for (Index j = 0; j < columns(); ++j) {
      const double mean = centred_ ? training(j, columns()) / m : 0;
      const double left = training(j, j) / m - mean * mean;
      if (total_(j, j) != 0 && !(left > kLeftOver * total_(j, j) / total_(columns(), columns()))) return false;
    }
    return true;
  }

  NormalEquations equations_of(const Eigen::MatrixXd& sums, const data::Scaler& units) const {
    const Index k = columns();
    const double m = sums(k, k);
    NormalEquations equations{
        sums.topLeftCorner(weights(), weights()) / m, sums.col(k + 1).head(weights()) / m, sums(k + 1, k + 1) / m, {}};
    if (centred_) {
      const Vector<double> mean = sums.col(k).head(k) / m;
      equations.matrix.noalias() -= mean * mean.transpose();
      equations.right -= sums(k, k + 1) / m * mean;
      equations.square -= std::pow(sums(k, k + 1) / m, 2);
    }
    equations.units = Vector<double>::Ones(weights());
    for (Index j = 0; j < k; ++j) {
      const double variance = equations.matrix(j, j);
      if (scaled_ && variance > 0) equations.units[j] = 1 / std::sqrt(variance);
      if (!scaled_) equations.units[j] = 1 / units.factors[static_cast<std::size_t>(j)];
    }
    equations.matrix = equations.units.asDiagonal() * equations.matrix * equations.units.asDiagonal();
    equations.right = equations.right.cwiseProduct(equations.units);
    return equations;
  }

  // One column for each lambda.
  Eigen::MatrixXd weights_for(const NormalEquations& equations, const std::vector<double>& lambdas) const {
    if (options_.l1_share == 0) {
      std::vector<double> shifts = lambdas;
      for (double& shift : shifts) shift += options_.penalty.l2;
      return ShiftedSystems(equations.matrix, equations.right, *std::min_element(shifts.begin(), shifts.end()))
          .solve(shifts);
    }
    Eigen::MatrixXd found(weights(), static_cast<Index>(lambdas.size()));
    GramLasso lasso(equations.matrix, equations.right, equations.square, false);
    for (std::size_t i = 0; i < lambdas.size(); ++i) {
      const Penalty penalty = with_elastic_net(options_.penalty, lambdas[i], options_.l1_share);
      found.col(static_cast<Index>(i)) = lasso.solve(penalty.l1, penalty.l2, kL1PathGap);
    }
    return found;
  }

  // One column for each lambda: the weights in the units of the sums, the intercept and -1 for the target.
  Eigen::MatrixXd models(const RoundSums& sums, const std::vector<double>& lambdas) const {
    const Index k = columns();
    const NormalEquations equations = equations_of(sums.training, sums.units);
    Eigen::MatrixXd models = Eigen::MatrixXd::Zero(k + 2, static_cast<Index>(lambdas.size()));
    models.topRows(weights()) = equations.units.asDiagonal() * weights_for(equations, lambdas);
    if (centred_) {
      const auto means = sums.training.col(k).transpose() / sums.training(k, k);
      models.row(k) = -(means.head(k) * models.topRows(k)).array() + means[k + 1];
    }
    models.row(k + 1).setConstant(-1);
    return models;
  }

  Eigen::MatrixXd losses_of(std::size_t round, const RoundSums& sums, const std::vector<double>& lambdas) const {
    const Eigen::MatrixXd models = this->models(sums, lambdas);
    const auto& parts = rounds_[round];
    Eigen::MatrixXd losses(static_cast<Index>(parts.size()), models.cols());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const Eigen::MatrixXd& held = sums.held.empty() ? sums_[round][part] : sums.held[part];
      losses.row(static_cast<Index>(part)) = part_losses(parts[part], held, sums.units, models);
    }
    return losses;
  }

  Eigen::RowVectorXd part_losses(const RowList& rows, const Eigen::MatrixXd& held, const data::Scaler& units,
                                 const Eigen::MatrixXd& models) const {
    const double m = held(columns(), columns());
    if (!(m > 0)) return Eigen::RowVectorXd::Zero(models.cols());
    Eigen::RowVectorXd losses = models.cwiseProduct(held * models).colwise().sum() / (2 * m);
    const Eigen::RowVectorXd reach = held.diagonal().cwiseSqrt().transpose() * models.cwiseAbs();
    RowList lost;
    for (Index i = 0; i < losses.size(); ++i) {
      if (!(kUnit * reach[i] * reach[i] / (2 * m) <= kVisible * losses[i])) lost.push_back(i);
    }
    if (lost.empty()) return losses;
    const Eigen::MatrixXd own = models(Eigen::all, lost);
    const StreamedRows<double> streamed = gathered(rows, units);
    Eigen::RowVectorXd exact = Eigen::RowVectorXd::Zero(own.cols());
    for_each_block(streamed, 0, streamed.rows(), [&](Index first, const auto& block) {
      Eigen::MatrixXd squares = (block * own).cwiseAbs2();
      for (Index i = 0; i < squares.rows() && options_.row_weights.size() > 0; ++i) {
        squares.row(i) *= options_.row_weights[rows[static_cast<std::size_t>(first + i)]];
      }
      exact += squares.colwise().sum() / (2 * m);
    });
    all_reduce_sum(communicator_, exact);
    for (std::size_t i = 0; i < lost.size(); ++i) losses[lost[i]] = exact[static_cast<Index>(i)];
    return losses;
  }

  const data::FeatureView x_;
  const Eigen::Map<const Vector<double>> y_;
  const FitOptions& options_;
  const Rounds& rounds_;
  ThreadPool& pool_;
  Communicator* communicator_;
  bool scaled_;   // by the deviations of the training rows
  bool centred_;  // the intercept is free: it takes the means away
  double target_shift_;
  data::Scaler units_;
  std::vector<std::vector<Eigen::MatrixXd>> sums_;  // of each part of each round
  Eigen::MatrixXd total_;
};

}  // namespace

std::unique_ptr<LeastSquaresPath> least_squares_path(const data::TableView& training, const FitOptions& options,
                                                     const Rounds& rounds, ThreadPool& pool,
                                                     Communicator* communicator) {
  const data::Scaling scaling = options.scaling.value_or(data::Scaling::standard);
  const bool centred = options.intercept && options.penalty.spare_last;
  const bool scales = scaling == data::Scaling::standard && centred;
  const bool plain = scaling == data::Scaling::none && (centred || !options.penalty.spare_last);
  const bool only_l2 = options.penalty.l1 == 0 && options.penalty.tikhonov.empty();  // beside the lambda chosen
  if (!training.is_dense() || training.columns() == 0 || !only_l2 || !(scales || plain)) return nullptr;
  const auto all_rows = static_cast<Index>(all_reduce_sum(communicator, static_cast<double>(training.rows())));
  if (options.l1_share > 0 && training.columns() > all_rows) return nullptr;
  if (options.l1_share == 0 && centred && is_wide_path(all_rows, training.columns())) {
    if (communicator != nullptr) return nullptr;  // it needs the rows of all at once
    return std::make_unique<WidePath>(training, options, rounds, pool);
  }
  std::size_t parts = 1;
  for (const auto& round : rounds) parts += round.size();
  const auto size = static_cast<double>(training.columns());
  if (training.columns() > kMostTallColumns || static_cast<double>(parts) * size * size > kMostNumbers) return nullptr;
  return std::make_unique<TallPath>(training, options, rounds, pool, communicator);
}

}  // namespace lipschitzlr::linear
