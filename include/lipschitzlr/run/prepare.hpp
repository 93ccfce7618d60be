#pragma once
// From a file or a named data set to a training problem: read, choose the model, set rows aside, learn the scaling on
// the training rows, find K. Shared by every command that trains or measures.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::run {

struct DataChoice {
  std::string source;  // a file, "-" for standard input, or the name of a data set of the catalogue
  data::ReadOptions read;
  std::string model = "auto";    // linear, logistic, softmax; auto: by the target
  std::string scaling = "auto";  // none, sum, standard, minmax; auto: standard for dense tables, none for sparse ones
  bool intercept = true;
  double holdout = 0;  // share of the rows set aside for testing
  std::uint64_t seed = 1;
  double l2 = 0;
  std::string tikhonov;                // a number, or a file with Gamma's diagonal (one row or column) or Gamma itself
  std::optional<double> weight_bound;  // K; default: linear::default_weight_bound
};

struct Prepared {
  data::Table train, test;
  data::Scaler scaler;
  linear::ProblemSetup setup;

  Index classes() const { return static_cast<Index>(train.labels.size()); }
};

// The table behind a source. A file wins over a name. Throws Error (data) when it is neither.
data::Table load_table(const std::string& source, const data::ReadOptions& options);

Prepared prepare(const DataChoice& choice);

// One sentence on what was read and what will be learnt.
std::string describe(const DataChoice& choice, const Prepared& prepared);

// With a team, of this process' share of the training rows (share_of).
template <class Scalar>
std::unique_ptr<linear::Problem<Scalar>> make_problem(const Prepared& prepared, ThreadPool& pool,
                                                      Communicator* communicator = nullptr);

}  // namespace lipschitzlr::run
