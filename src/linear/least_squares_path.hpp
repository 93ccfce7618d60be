#pragma once
// The losses of cross-validation along a path of L2 penalties for least squares, all lambdas of a round at once and the
// same as from one training after the other; with L1 one lambda after the other, but without the rows (gram_lasso.hpp).
// The intercept is free, or the columns are not shifted.
//   Tall: the Gram matrix of the columns, the intercept and the target is taken once of every part of the rows. A
//   round's training rows have the sum of all less that of the parts held out, from which their means, deviations and
//   normal equations follow; of a model t = (w, c, -1) the part with the Gram matrix H has the loss t'Ht / 2m.
//   Wide: the same in the space of the rows, with K = ZZ' instead, Z the columns in the units of the round.
// Where rounding could show in a difference, the rows themselves are used.

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "lipschitzlr/linear/fit.hpp"

namespace lipschitzlr::linear {

// The rows that each round leaves out, in the parts in which they are measured.
using Rounds = std::vector<std::vector<std::vector<Index>>>;

inline constexpr double kL1PathGap = 1e-5;  // relative: how near the optimum a model with L1 is

class LeastSquaresPath {
 public:
  virtual ~LeastSquaresPath() = default;

  // Where the path of all rows starts: cross_validation.hpp. L2 alone: of standard scaling only.
  virtual double first_lambda() const = 0;
  // For each round from first to last - 1 the mean losses: a row for each of its parts, a column for each lambda > 0.
  virtual std::vector<Eigen::MatrixXd> losses(std::size_t first, std::size_t last,
                                              const std::vector<double>& lambdas) const = 0;
};

// Nothing where it can't be done: for sparse rows, another penalty or scaling, too many rows and columns, L1 with
// fewer rows than columns. What is given must outlive it. A wide path copies the rows, a tall one parts that take no
// more than options.most_held. With a communicator each process has rows of its own, and only a tall path is made;
// all is collective.
std::unique_ptr<LeastSquaresPath> least_squares_path(const data::TableView& training, const FitOptions& options,
                                                     const Rounds& rounds, ThreadPool& pool,
                                                     Communicator* communicator = nullptr);

}  // namespace lipschitzlr::linear
