#include "lipschitzlr/data/table/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/block/block.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/column_sums.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using Row = ColumnSums::Row;

// Per column; the mean is corrected by the mean of what it leaves over, which removes the rounding of a long sum.
struct Summary {
  Row mean, deviation, magnitude, low, high;
};

// The weights of the rows of this process; without any, each is 1.
class RowWeights {
 public:
  RowWeights(const Vector<double>& weights, Index rows, Communicator* communicator)
      : weights_(weights),
        here_(weights.size() == 0 ? static_cast<double>(rows) : weights.sum()),
        total_(all_reduce_sum(communicator, here_)),
        communicator_(communicator) {
    if (!(total_ > 0)) throw Error(Fault::data, "the weights of the rows are all 0");
  }
  bool all_alike() const { return weights_.size() == 0; }
  double here() const { return here_; }
  double total() const { return total_; }  // of all processes
  Communicator* communicator() const { return communicator_; }
  double operator[](Index row) const { return all_alike() ? 1 : weights_[row]; }

 private:
  const Vector<double>& weights_;
  double here_, total_;
  Communicator* communicator_;
};

// A cast to the type it has would keep Eigen from vectorising.
template <class Scalar>
auto in_double(const DenseView<Scalar>& view) {
  if constexpr (std::is_same_v<Scalar, double>) {
    return view;
  } else {
    return view.template cast<double>();
  }
}

Summary summary_of(ColumnSums sums, const RowWeights& weights) {
  const double total = weights.total();
  sums.unite(weights.communicator(), weights.here(), total);
  const Row left = sums.left / total;
  return {sums.sum / total + left, (sums.squares / total - left.square()).max(0).sqrt(), sums.magnitude, sums.low,
          sums.high};
}

// Dense or streamed.
template <class Rows>
Summary summarise(const Rows& matrix, const RowWeights& weights) {
  if constexpr (std::is_same_v<Rows, StreamedRows<double>>) {
    if (weights.all_alike()) return summary_of(matrix.column_sums(), weights);
  }
  const auto each_row = [&](const auto& visit) {
    for_each_part(matrix, [&](Index first, const auto& part) {
      const auto rows = in_double(part);
      for (Index row = 0; row < rows.rows(); ++row) {
        if (weights[first + row] > 0) visit(weights[first + row], rows.row(row).array());
      }
    });
  };
  return summary_of(ColumnSums::of(matrix.cols(), weights.here(), each_row), weights);
}

template <class Scalar>
Summary summarise(const SparseView<Scalar>& matrix, const RowWeights& weights) {
  Row sum = Row::Zero(matrix.cols()), stored = sum, filled = sum;  // cells, and what their rows weigh
  Summary summary{sum, sum, sum, sum, sum};
  const auto each_cell = [&](auto&& visit) {
    for (Index row = 0; row < matrix.rows(); ++row) {
      if (!(weights[row] > 0)) continue;
      for (typename SparseView<Scalar>::InnerIterator cell(matrix, row); cell; ++cell) {
        visit(cell.col(), static_cast<double>(cell.value()), weights[row]);
      }
    }
  };
  summary.low.setConstant(std::numeric_limits<double>::infinity());
  summary.high = -summary.low;
  each_cell([&](Index column, double value, double weight) {
    sum(column) += weight * value;
    stored(column) += 1;
    filled(column) += weight;
    summary.magnitude(column) += weight * std::abs(value);
    summary.low(column) = std::min(summary.low(column), value);
    summary.high(column) = std::max(summary.high(column), value);
  });
  double counted = 0;
  for (Index row = 0; row < matrix.rows(); ++row) counted += weights[row] > 0 ? 1 : 0;
  Communicator* const all = weights.communicator();
  for (Row* row : {&sum, &stored, &filled, &summary.magnitude}) all_reduce_sum(all, *row);
  counted = all_reduce_sum(all, counted);
  summary.low = -summary.low;
  for (Row* row : {&summary.low, &summary.high}) all_reduce_max(all, *row);
  summary.low = -summary.low;
  summary.mean = sum / weights.total();
  summary.low = (stored < counted).select(summary.low.min(0), summary.low);
  summary.high = (stored < counted).select(summary.high.max(0), summary.high);
  const Row empty = weights.total() - filled;
  Row left = -empty * summary.mean, squares = empty * summary.mean.square();
  if (!is_root(all)) left.setZero(), squares.setZero();  // counted once
  each_cell([&](Index column, double value, double weight) {
    const double difference = value - summary.mean(column);
    left(column) += weight * difference;
    squares(column) += weight * difference * difference;
  });
  for (Row* row : {&left, &squares}) all_reduce_sum(all, *row);
  left /= weights.total();
  summary.mean += left;
  summary.deviation = (squares / weights.total() - left.square()).max(0).sqrt();
  return summary;
}

// A power of two for each column whose squares would overflow or underflow, 1 for the others: no bit of a number is
// lost by it.
Row safe_units(const Row& low, const Row& high) {
  return low.abs().max(high.abs()).unaryExpr([](double size) {
    constexpr double kSafe = 1e100;
    if (size == 0 || (size < kSafe && size > 1 / kSafe)) return 1.0;
    return std::ldexp(1.0, -std::clamp(std::ilogb(size), -1000, 1000));
  });
}

template <class Scalar>
Features in_units(const DenseView<Scalar>& view, const Row& units) {
  return DenseMatrix<double>(in_double(view) * units.matrix().asDiagonal());
}

template <class Scalar>
Features in_units(const SparseView<Scalar>& view, const Row& units) {
  return SparseMatrix<double>(view.template cast<double>() * units.matrix().asDiagonal());
}

Features in_units(const StreamedRows<double>& rows, const Row& units) {
  const auto fill = [rows, units](const Index* numbers, Index first, Index count, double* to) {
    rows.fill(numbers, first, count, to);
    Eigen::Map<DenseMatrix<double>> block(to, count, rows.cols());
    block = block * units.matrix().asDiagonal();
  };
  return StreamedRows<double>(rows.rows(), rows.cols(), fill);
}

template <class View>
Summary summarise_safely(const View& view, const RowWeights& weights) {
  Summary summary = summarise(view, weights);
  const Row units = safe_units(summary.low, summary.high);
  if ((units == 1).all()) return summary;
  const Features scaled = in_units(view, units);
  summary = std::visit([&](const auto& matrix) { return summarise(matrix, weights); }, view_of(scaled));
  for (Row* row : {&summary.mean, &summary.deviation, &summary.magnitude, &summary.low, &summary.high}) *row /= units;
  return summary;
}

// Of a width or deviation; 1 when there is none.
double inverse(double x) { return x > 0 ? std::min(1 / x, std::numeric_limits<double>::max()) : 1; }

std::string column_name(const std::vector<std::string>& names, Index column) {
  const auto index = static_cast<std::size_t>(column);
  return index < names.size() ? fmt::format("column {} (\"{}\")", column + 1, names[index])
                              : fmt::format("column {}", column + 1);
}

double sum_factor(const Summary& summary, Index column, double rows, const std::vector<std::string>& names) {
  const double sum = summary.mean(column) * rows;
  const double magnitude = summary.magnitude(column);
  if (magnitude == 0) return 1;
  // A sum within the rounding of its terms is a zero that was missed.
  if (std::abs(sum) <= rows * std::numeric_limits<double>::epsilon() * magnitude) {
    throw Error(Fault::data, fmt::format("{} sums to zero and can't be divided by its sum; choose the scaling standard "
                                         "or minmax instead of sum",
                                         column_name(names, column)));
  }
  if (!std::isfinite(sum) || !std::isfinite(1 / sum)) {
    throw Error(Fault::data,
                fmt::format("{} sums to {}, by which nothing can be divided; choose the scaling standard or "
                            "minmax instead of sum",
                            column_name(names, column), sum));
  }
  return 1 / sum;
}

void refuse_offsets(const std::vector<double>& offsets, Scaling kind) {
  for (double offset : offsets) {
    if (offset == 0) continue;
    throw Error(Fault::usage, fmt::format("the scaling {} shifts columns and would fill every empty cell of sparse "
                                          "data; choose the scaling sum or none",
                                          to_string(kind)));
  }
}

void check_columns(Index have, Index want) {
  if (have == want) return;
  throw Error(Fault::data, fmt::format("the rows have {} feature columns, but the scaling was learned on {}; give rows "
                                       "with the same columns as in training",
                                       have, want));
}

constexpr Index kRowsPerTask = 4096;

// Calls task(first row, last row) for all rows, on the pool's threads when there is one.
template <class Task>
void for_rows(Index rows, ThreadPool* pool, const Task& task) {
  if (pool == nullptr || rows <= kRowsPerTask) return task(Index{0}, rows);
  pool->run(static_cast<std::size_t>((rows + kRowsPerTask - 1) / kRowsPerTask), [&](std::size_t number) {
    const Index first = static_cast<Index>(number) * kRowsPerTask;
    task(first, std::min(rows, first + kRowsPerTask));
  });
}

// Scales the features of dense rows into the first columns and writes the intercept, when asked for, into the last.
template <class Scalar, class Given>
class RowScaling {
 public:
  RowScaling(Scaler scaler, const DenseView<Given>& rows, bool intercept)
      : scaler_(std::move(scaler)), rows_(rows), intercept_(intercept) {
    check_columns(rows.cols(), scaler_.features());
  }

  Index columns() const { return rows_.cols() + (intercept_ ? 1 : 0); }
  Scalar last() const { return static_cast<Scalar>(scaler_.factors.back()); }

  // As StreamedRows asks for them.
  void operator()(const Index* numbers, Index first, Index count, Scalar* to) const {
    scale(rows_, numbers, first, count, to);
  }
  void scale(const DenseView<Given>& rows, const Index* numbers, Index first, Index count, Scalar* to) const {
    if constexpr (std::is_same_v<Scalar, Given>) {
      const Scalar last = intercept_ ? this->last() : 0;
      const auto scale = [&](auto kernel) {
        kernel(rows.data(), static_cast<std::size_t>(rows.cols()), numbers, static_cast<std::size_t>(first),
               static_cast<std::size_t>(count), scaler_.offsets.data(), scaler_.factors.data(),
               intercept_ ? &last : nullptr, to);
      };
      if constexpr (std::is_same_v<Scalar, double>) {
        scale(kernels_.scale_double);
      } else {
        scale(kernels_.scale_float);
      }
    } else {
      const Index features = rows.cols();
      const Eigen::Map<const Row> offsets(scaler_.offsets.data(), features), factors(scaler_.factors.data(), features);
      for (Index i = 0; i < count; ++i, to += columns()) {
        const auto row = rows.row(numbers == nullptr ? first + i : numbers[i]).template cast<double>().array();
        Eigen::Map<Eigen::Array<Scalar, 1, Eigen::Dynamic>>(to, features) =
            ((row - offsets) * factors).template cast<Scalar>();
        if (intercept_) to[features] = last();
      }
    }
  }

 private:
  Scaler scaler_;
  DenseView<Given> rows_;
  bool intercept_;
  const block::Kernels& kernels_ = block::kernels();
};

template <class Scalar, class Given>
StreamedRows<Scalar> streamed(const Scaler& scaler, const DenseView<Given>& rows, bool intercept) {
  const RowScaling<Scalar, Given> scaling(scaler, rows, intercept);
  return {rows.rows(), scaling.columns(), scaling, intercept ? std::optional(scaling.last()) : std::nullopt};
}

template <class Scalar>
StreamedRows<Scalar> streamed(const Scaler& scaler, const StreamedRows<double>& rows, bool intercept) {
  const RowScaling<Scalar, double> scaling(scaler, DenseView<double>(nullptr, 0, rows.cols()), intercept);
  const auto fill = [scaling, rows](const Index* numbers, Index first, Index count, Scalar* to) {
    const auto raw = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(count * rows.cols()));
    rows.fill(numbers, first, count, raw.get());
    scaling.scale(DenseView<double>(raw.get(), count, rows.cols()), nullptr, 0, count, to);
  };
  return StreamedRows<Scalar>(rows.rows(), scaling.columns(), fill,
                              intercept ? std::optional(scaling.last()) : std::nullopt)
      .with_obstacle(rows.obstacle());
}

template <class Scalar, class Given>
StreamedRows<Scalar> streamed(const Scaler&, const SparseView<Given>&, bool) {
  throw Error(Fault::usage, "sparse rows can't be streamed; make their design");
}

template <class Scalar, class Given>
DenseMatrix<Scalar> scale(const Scaler& scaler, const DenseView<Given>& rows, bool intercept, ThreadPool* pool) {
  return streamed<Scalar>(scaler, rows, intercept).dense(pool);
}

template <class Scalar>
DenseMatrix<Scalar> scale(const Scaler& scaler, const StreamedRows<double>& rows, bool intercept, ThreadPool* pool) {
  return streamed<Scalar>(scaler, rows, intercept).dense(pool);
}

template <class Scalar, class Given>
SparseMatrix<Scalar> scale(const Scaler& scaler, const SparseView<Given>& rows, bool intercept, ThreadPool* pool) {
  check_columns(rows.cols(), scaler.features());
  refuse_offsets(scaler.offsets, scaler.kind);
  const auto* const starts = rows.outerIndexPtr();
  const int more = intercept ? 1 : 0;
  SparseMatrix<Scalar> scaled(rows.rows(), rows.cols() + more);
  scaled.resizeNonZeros(rows.nonZeros() + more * rows.rows());
  for (Index row = 0; row <= rows.rows(); ++row) {
    scaled.outerIndexPtr()[row] = starts[row] - starts[0] + more * static_cast<int>(row);
  }
  for_rows(rows.rows(), pool, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      auto to = scaled.outerIndexPtr()[row];
      for (auto from = starts[row]; from < starts[row + 1]; ++from, ++to) {
        const auto column = rows.innerIndexPtr()[from];
        scaled.innerIndexPtr()[to] = column;
        scaled.valuePtr()[to] = static_cast<Scalar>(static_cast<double>(rows.valuePtr()[from]) *
                                                    scaler.factors[static_cast<std::size_t>(column)]);
      }
      if (!intercept) continue;
      scaled.innerIndexPtr()[to] = static_cast<int>(rows.cols());
      scaled.valuePtr()[to] = static_cast<Scalar>(scaler.factors.back());
    }
  });
  return scaled;
}

}  // namespace

std::string to_string(Scaling scaling) {
  switch (scaling) {
    case Scaling::none:
      return "none";
    case Scaling::column_sum:
      return "sum";
    case Scaling::standard:
      return "standard";
    case Scaling::min_max:
      return "minmax";
  }
  return "none";
}

Scaling scaling_from(const std::string& name) {
  for (Scaling scaling : {Scaling::none, Scaling::column_sum, Scaling::standard, Scaling::min_max}) {
    if (to_string(scaling) == name) return scaling;
  }
  throw Error(Fault::usage, fmt::format("there is no scaling \"{}\"; choose none, sum, standard or minmax", name));
}

Scaler Scaler::learn(Scaling scaling, const Features& training, bool intercept, const std::vector<std::string>& names,
                     const Vector<double>& row_weights, Communicator* communicator) {
  return learn(scaling, view_of(training), intercept, names, row_weights, communicator);
}

Scaler Scaler::learn(Scaling scaling, const FeatureView& training, bool intercept,
                     const std::vector<std::string>& names, const Vector<double>& row_weights,
                     Communicator* communicator) {
  const Index rows = data::rows(training), columns = data::columns(training);
  if (all_reduce_sum(communicator, static_cast<double>(rows)) == 0)
    throw Error(Fault::data, "the scaling can't be learned: there are no training rows");
  const RowWeights weights(row_weights, rows, communicator);
  Scaler scaler{scaling, intercept, std::vector<double>(static_cast<std::size_t>(columns), 0.0),
                std::vector<double>(static_cast<std::size_t>(columns), 1.0)};
  if (scaling != Scaling::none && columns > 0) {
    const Summary summary = std::visit([&](const auto& matrix) { return summarise_safely(matrix, weights); }, training);
    for (Index column = 0; column < columns; ++column) {
      double& offset = scaler.offsets[static_cast<std::size_t>(column)];
      double& factor = scaler.factors[static_cast<std::size_t>(column)];
      const double width = summary.high(column) - summary.low(column);
      if (!std::isfinite(width)) {
        throw Error(Fault::data,
                    fmt::format("{} reaches from {} to {}, further than a number can; divide it by a power "
                                "of ten",
                                column_name(names, column), summary.low(column), summary.high(column)));
      }
      if (scaling == Scaling::column_sum) factor = sum_factor(summary, column, weights.total(), names);
      if (scaling == Scaling::min_max) offset = summary.low(column);
      // A constant column's mean may be off by a rounding; its only value is not.
      if (scaling == Scaling::standard) offset = width == 0 ? summary.low(column) : summary.mean(column);
      if (scaling == Scaling::min_max) factor = inverse(width);
      if (scaling == Scaling::standard && width > 0) factor = inverse(summary.deviation(column));
    }
  }
  if (!is_dense(training)) refuse_offsets(scaler.offsets, scaling);
  if (intercept) {
    scaler.offsets.push_back(0);
    scaler.factors.push_back(scaling == Scaling::column_sum ? 1 / weights.total() : 1);
  }
  return scaler;
}

std::vector<double> column_deviations(const FeatureView& features, const Vector<double>& row_weights,
                                      Communicator* communicator) {
  if (all_reduce_sum(communicator, static_cast<double>(rows(features))) == 0) return {};
  const RowWeights weights(row_weights, rows(features), communicator);
  const Summary summary = std::visit([&](const auto& view) { return summarise_safely(view, weights); }, features);
  const Row finite = summary.deviation.min(std::numeric_limits<double>::max());
  return {finite.begin(), finite.end()};
}

Features Scaler::apply(const Features& rows) const {
  return std::visit([&](const auto& view) { return Features(scale<double>(*this, view, false, nullptr)); },
                    view_of(rows));
}

template <class Scalar>
std::variant<DenseMatrix<Scalar>, SparseMatrix<Scalar>> Scaler::design(const FeatureView& rows,
                                                                       ThreadPool* pool) const {
  std::variant<DenseMatrix<Scalar>, SparseMatrix<Scalar>> made;
  std::visit(
      [&](const auto& view) {
        auto scaled = scale<Scalar>(*this, view, intercept, pool);
        made.template emplace<decltype(scaled)>().swap(scaled);  // Eigen would copy a sparse matrix that is moved
      },
      rows);
  return made;
}

template <class Scalar>
StreamedRows<Scalar> Scaler::streamed_design(const FeatureView& rows) const {
  return std::visit([&](const auto& view) { return streamed<Scalar>(*this, view, intercept); }, rows);
}

template <class Scalar>
DenseMatrix<Scalar> Scaler::design(const DenseMatrix<double>& rows, ThreadPool* pool) const {
  return scale<Scalar>(*this, view_of(rows), intercept, pool);
}

template <class Scalar>
SparseMatrix<Scalar> Scaler::design(const SparseMatrix<double>& rows, ThreadPool* pool) const {
  return scale<Scalar>(*this, view_of(rows), intercept, pool);
}

#define LIPSCHITZLR_DESIGN(Scalar)                                                              \
  template DenseMatrix<Scalar> Scaler::design(const DenseMatrix<double>&, ThreadPool*) const;   \
  template SparseMatrix<Scalar> Scaler::design(const SparseMatrix<double>&, ThreadPool*) const; \
  template StreamedRows<Scalar> Scaler::streamed_design(const FeatureView&) const;              \
  template std::variant<DenseMatrix<Scalar>, SparseMatrix<Scalar>> Scaler::design(const FeatureView&, ThreadPool*) const
LIPSCHITZLR_DESIGN(float);
LIPSCHITZLR_DESIGN(double);

}  // namespace lipschitzlr::data
