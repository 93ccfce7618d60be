#pragma once
// A table of examples: features (dense or sparse), their names, and the target column. A class target is stored as
// class indices with the labels beside it, so that "setosa" stays "setosa" all the way into the predictions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"

namespace lipschitzlr::data {

// Streamed: those of a file that does not fit into the memory it is given (ReadOptions.memory), all of them numbers.
using Features = std::variant<DenseMatrix<double>, SparseMatrix<double>, StreamedRows<double>>;

Index rows(const Features& features);
Index columns(const Features& features);
DenseMatrix<double> to_dense(const Features& features);  // in memory; errors as StreamedRows::dense

// Features in memory that belongs to somebody else, such as an array of NumPy, which must outlive the view; or streamed
// ones.
using FeatureView =
    std::variant<DenseView<double>, SparseView<double>, DenseView<float>, SparseView<float>, StreamedRows<double>>;

DenseView<double> view_of(const DenseMatrix<double>& matrix);
SparseView<double> view_of(const SparseMatrix<double>& matrix);
StreamedRows<double> view_of(const StreamedRows<double>& rows);
FeatureView view_of(const Features& features);

Index rows(const FeatureView& features);
Index columns(const FeatureView& features);
bool is_dense(const FeatureView& features);  // streamed ones are
bool is_streamed(const FeatureView& features);
double stored_in(const FeatureView& features);  // values

// What the cells of a column of features are.
enum class ColumnKind { number, date, text };

// A column of features as the file has it. In the table's matrix a gap is NaN, a text its place in texts, a date its
// days since 1970-01-01, the time of day as a fraction.
struct RawColumn {
  ColumnKind kind = ColumnKind::number;
  std::vector<std::string> texts = {};
  bool exact = false;      // a number is the text it stands as
  bool countless = false;  // more different texts than are kept, which makes it an id
};

struct Table {
  Features features;
  std::vector<std::string> feature_names;  // one per column: the header's, or x1, x2, ...
  Vector<double> target;                   // one per row; empty when the table has no target
  std::vector<std::string> labels;         // class names in the order of their indices; empty for a numeric target
  std::string target_name;                 // the header's, or "target"
  Index target_column = -1;                // where it stood in the file, from 0; -1: not in a column
  bool has_names = true;                   // false: the file has none, and feature_names are the numbers of columns
  std::vector<std::string> remarks = {};   // what the reader decided and a user might not expect, a sentence each
  // One per feature when some cell is not a number (ReadOptions.raw), for an Encoder; empty: all of them are.
  std::vector<RawColumn> raw_columns = {};
  std::vector<Index> places = {};  // of the features among those of the file when some are left out; empty: all stay
  Index width = 0;                 // with places: how many features the file has
  // By feature: 0 or 1 for a level, a boolean or a gap, which the scaling standard leaves as it is; empty: none is.
  std::vector<bool> indicators = {};
  std::uint64_t bytes_read = 0;  // of files, by a process that read a part of the table (read_part); 0: it read all

  Index rows() const { return data::rows(features); }
  Index columns() const { return data::columns(features); }
  bool has_target() const { return target.size() > 0 || rows() == 0; }
  bool is_classified() const { return !labels.empty(); }
};

// The given rows of a table, in the given order; of streamed features they are numbers of rows alone.
Table take_rows(const Table& table, const std::vector<Index>& rows);
Features take_rows(const FeatureView& features, const std::vector<Index>& rows);

// Leaves the given columns in the features, in the given order; the caller has the names. Not of sparse ones.
void take_columns(Table& table, const std::vector<Index>& columns);

// What a model is trained on, where it is: a table, or memory that belongs to somebody else. It must outlive the view.
struct TableView {
  FeatureView features;
  Eigen::Map<const Vector<double>> target;
  const std::vector<std::string>& labels;
  const std::vector<std::string>& feature_names;
  const std::vector<bool>& indicators;

  TableView(const Table& table);
  TableView(FeatureView rows, Eigen::Map<const Vector<double>> targets, const std::vector<std::string>& classes,
            const std::vector<std::string>& names);

  Index rows() const { return data::rows(features); }
  Index columns() const { return data::columns(features); }
  bool is_dense() const { return data::is_dense(features); }
};

// Turns a numeric target into classes: distinct values in ascending order become the labels (1 -> "1", 0.5 -> "0.5").
// Throws Error (data) for numbers from kLargestExactNumber on. With a communicator the values of all processes count,
// each of which has rows of its own; collective.
void make_classes(Table& table, Communicator* communicator = nullptr);

// Of any file: more is damage, or an index that is none.
inline constexpr Index kMostColumns = 1 << 24;

// 2^53: from here on some whole numbers are the same double.
inline constexpr double kLargestExactNumber = 9007199254740992;
// More whole numbers than this are a count rather than classes.
inline constexpr std::size_t kMostNumberedClasses = 10;

// Whether a numeric target looks like classes: two whole numbers, or up to kMostNumberedClasses, each three times on
// average. Collective with a communicator, as make_classes.
bool looks_like_classes(const Table& table, Communicator* communicator = nullptr);

}  // namespace lipschitzlr::data
