#pragma once
// Scaling of columns, learned on the training rows and then applied to any rows: scaled = (x - offset) * factor.
// column_sum is the paper's (method.md, section 4.6): the intercept's column of ones is added first, then every column
// is divided by its sum, so that the intercept becomes 1/m. Learn on training rows only: what the test rows look like
// must not reach the model.

#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"
#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data {

enum class Scaling {
  none,        // x
  column_sum,  // x / sum(x); a column of zeros stays
  standard,    // (x - mean) / deviation, the deviation over m, not m - 1; a constant column becomes 0
  min_max,     // (x - min) / (max - min); a constant column becomes 0
};

std::string to_string(Scaling scaling);         // none, sum, standard, minmax
Scaling scaling_from(const std::string& name);  // the same names; throws Error (usage) for others

struct Scaler {
  Scaling kind = Scaling::none;
  bool intercept = true;
  // One per feature and, with an intercept, a last one for its column of ones: offset 0, factor 1 or 1/m.
  std::vector<double> offsets, factors;

  // row_weights: how much each row counts, a row of weight 2 as two rows, one of 0 as none; empty: all alike. names
  // only serve in error messages ("column 3" without them). Throws Error (data) when a column that is not all zero sums
  // to zero under column_sum, or when there are no rows; Error (usage) when sparse features would need an offset, which
  // would fill every empty cell. With a communicator it is learned of the rows of all processes, of which each gives
  // its own; collective.
  static Scaler learn(Scaling scaling, const FeatureView& training, bool intercept,
                      const std::vector<std::string>& names = {}, const Vector<double>& row_weights = {},
                      Communicator* communicator = nullptr);
  static Scaler learn(Scaling scaling, const Features& training, bool intercept,
                      const std::vector<std::string>& names = {}, const Vector<double>& row_weights = {},
                      Communicator* communicator = nullptr);

  Index features() const { return static_cast<Index>(factors.size()) - (intercept ? 1 : 0); }
  Index design_columns() const { return static_cast<Index>(factors.size()); }

  // The scaled features without the intercept. Throws Error (data) when the number of columns is another.
  Features apply(const Features& rows) const;

  // What the model sees: the scaled features and, as the last column, the intercept. For float and double; on the
  // threads of the pool when there is one.
  template <class Scalar>
  DenseMatrix<Scalar> design(const DenseMatrix<double>& rows, ThreadPool* pool = nullptr) const;
  template <class Scalar>
  SparseMatrix<Scalar> design(const SparseMatrix<double>& rows, ThreadPool* pool = nullptr) const;
  // The same of rows that are read where they are, all of them or some: without another copy of what they hold.
  template <class Scalar>
  std::variant<DenseMatrix<Scalar>, SparseMatrix<Scalar>> design(const FeatureView& rows,
                                                                 ThreadPool* pool = nullptr) const;
  // The same of dense rows, each scaled when it is read; they must outlive it.
  template <class Scalar>
  StreamedRows<Scalar> streamed_design(const FeatureView& rows) const;
};

// The standard deviation of each column, over m; none without rows. The largest number there is where it would be
// larger. With a communicator of the rows of all processes; collective.
std::vector<double> column_deviations(const FeatureView& features, const Vector<double>& row_weights = {},
                                      Communicator* communicator = nullptr);

}  // namespace lipschitzlr::data
