#pragma once
// LeastSquaresPath with more columns than rows. With Z the centred columns of a round's training rows, in its units,
//   w = Z'g,  (ZZ'/m + lambda I) g = y/m
// needs K = ZZ' alone, of all rows at once: the scores of the rows held out are in it too. With weights of the rows D,
// D^1/2 Z takes the place of Z.

#include "linear/least_squares_path.hpp"

namespace lipschitzlr::linear {

// Whether there are more columns than rows, and not too many rows.
bool is_wide_path(Index rows, Index columns);

// Of dense rows with a free intercept, in their own units or scaled by the deviations.
class WidePath final : public LeastSquaresPath {
 public:
  WidePath(const data::TableView& training, const FitOptions& options, const Rounds& rounds, ThreadPool& pool);

  double first_lambda() const override;
  std::vector<Eigen::MatrixXd> losses(std::size_t first, std::size_t last,
                                      const std::vector<double>& lambdas) const override;

 private:
  // Rows of a part, one after the other in columns_.
  struct Range {
    Index first, count;
  };

  template <class Scalar>
  void gather(const DenseView<Scalar>& x);
  Eigen::MatrixXd products(const Vector<double>& training) const;
  Eigen::MatrixXd losses_of(const std::vector<Range>& parts, const std::vector<double>& lambdas) const;

  ThreadPool& pool_;
  double l2_;
  bool scaled_;  // by the deviations of the training rows
  data::Scaler units_;
  std::vector<Index> order_;               // of the rows: part after part, then those that are in none
  std::vector<std::vector<Range>> parts_;  // of each round
  DenseMatrix<double> columns_;            // a row for each column, in units_
  Vector<double> targets_, row_weights_;
};

}  // namespace lipschitzlr::linear
