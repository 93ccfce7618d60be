#pragma once
// What a user asks of `fit` and `rate`: the table and the model of it, and for `fit` how to train.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/data/table/encoder.hpp"
#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/linear/solver.hpp"
#include "lipschitzlr/run/option.hpp"
#include "lipschitzlr/run/progress.hpp"

namespace lipschitzlr::run {

struct DataOptions {
  std::string source;  // a file, "-" for standard input, or the name of a data set of the catalogue
  data::ReadOptions read;
  std::vector<std::string> categorical;  // columns of codes: read.known
  data::EncoderOptions encoding;         // of columns that are not numbers alone
  std::optional<linear::Family> model;   // default: by the target
  std::optional<data::Scaling> scaling;  // default: standard for dense tables, none for sparse ones
  bool intercept = true;
  double l2 = 0;
  double l1 = 0;                       // with l2 an elastic net; not with a Tikhonov term
  bool penalize_intercept = false;     // by l2, as in the paper; a Tikhonov term always covers it
  std::string weight;                  // a column that says how much each row counts; empty: all alike
  std::string class_weight;            // "balanced", or what each class counts, "A=2,B=1"; empty: all alike
  std::string tikhonov;                // a number, or a file with Gamma's diagonal (one row or column) or Gamma itself
  std::optional<double> weight_bound;  // K; default: linear::default_weight_bound
  double holdout = 0;                  // share of the rows set aside for testing
  std::uint64_t seed = 1;              // of the holdout, the shuffles and a random start
};

using linear::Solver;

struct FitRequest {
  DataOptions data;
  Solver solver = Solver::automatic;
  bool choose_l2 = true;                         // data.l2 by cross-validation, unless there is another penalty
  bool choose_l1 = false;                        // data.l1 by cross-validation
  std::optional<double> elastic_net;             // the share of L1 in a penalty of both (linear::with_elastic_net),
  std::optional<double> lambda;                  // ... and its strength; default: by cross-validation
  std::optional<int> folds, path;                // of cross-validation: linear::PathOptions
  std::optional<linear::ConstantKind> constant;  // behind the rate, unless training.rate is a number; default: by trial
  std::optional<double> tolerance;   // the proven gap of newton and lbfgs, the change of the loss of the others
  std::optional<double> validation;  // share of the training rows that early stopping holds out
  linear::SolverOptions training;    // solver, constant, tolerances and seed are filled in from the above
  bool random_start = false;         // w0 ~ N(0, 1) instead of zero
  bool single_precision = false;
  unsigned threads = 0;  // 0: all cores, shared evenly by the processes on one machine
  std::string resume;    // a model file of an unfinished run; empty: start anew
  std::string record;    // a folder for the run's record; empty: none
  bool watch = false;    // plots of loss and rate
  Verbosity verbosity = Verbosity::silent;
  std::vector<std::string> command = {};  // the words of the command line, for the record
};

inline constexpr const char* kDataHelp =
    "CSV, TSV, JSON Lines, LIBSVM or NumPy file (.gz, .xz and .zst too), packed table, several as 'part-*.csv', - for "
    "standard input, or a name from `lipschitzlr data list`";

// How to read a file of rows; target_help says which column is the target by default.
Options options_of(data::ReadOptions& options, const std::string& target_help);
Option memory_option(data::ReadOptions& options);     // for what to hold of it; load_table has the default
Options columns_to_read(data::ReadOptions& options);  // those to leave out, or the only ones
Options options_of(DataOptions& options);
Options options_of(FitRequest& options);  // those of its data too

}  // namespace lipschitzlr::run
