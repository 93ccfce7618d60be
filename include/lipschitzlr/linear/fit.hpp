#pragma once
// A linear model from a table, and the steps of it for callers that need them apart: which family fits the target, what
// is learned from the training rows before a solver runs (scaling, K), the training problem, the model.
//   const Model model = fit(data::read_table("prices.csv"));
//   const Vector<double> prices = model.predict(data::read_table("new.csv").features);

#include <memory>
#include <optional>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/linear/model.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

// A dense design of more bytes does not stay in a cache from one pass to the next: scaling the rows anew in every pass
// then takes less time than making a copy and reading it.
inline constexpr std::size_t kMostHeld = 32u << 20;

struct FitOptions {
  std::optional<Family> family = {};          // by default the target's: see choose_family
  std::optional<data::Scaling> scaling = {};  // by default standard for dense features, none for sparse ones
  bool intercept = true;
  Penalty penalty = {};        // of fit(), when it is empty: by cross-validation, without the intercept, unless
  bool choose_penalty = true;  // ... this is false
  double l1_share = 0;         // of the penalty that is chosen: 0 is L2 alone, 1 L1 alone (with_elastic_net)
  std::optional<double> weight_bound = {};  // K; by default default_weight_bound(), which may take a pass over the
                                            // rows; kNoWeightBound where the solver takes no rate
  Vector<double> row_weights = {};          // how much each row counts; empty: all alike
  std::size_t most_held = kMostHeld;        // bytes of a design in memory, where rows can be read where they are
  SolverOptions solver = {.epochs = 10000};
  unsigned threads = 0;  // 0: one for each core; the model's bits do not depend on it
};

// Trains on all rows. Throws Error (data) when there are fewer than two rows, no target, or only one class; Error
// (usage) when options do not fit the table or one another; Error (training) when the loss became NaN or infinite.
// model.training says how it ended and which penalty was taken.
Model fit(data::Table table, const FitOptions& options = {});

// The family that was asked for, or the target's: logistic for two classes, softmax for more, linear for numbers. A
// numeric target that has to be classes, or by default looks like classes, is made classes here. Throws Error (usage)
// when the family asked for does not fit the target, Error (data) when there is nothing to learn. With a communicator
// each process has rows of its own here and below, and what is learned is learned of the rows of all; collective.
Family choose_family(std::optional<Family> wanted, data::Table& table, Communicator* communicator = nullptr);

struct Preparation {
  ProblemSetup setup;
  data::Scaler scaler;
};

// From the training rows alone, after choose_family; options.row_weights weigh them.
Preparation prepare(const data::TableView& training, Family family, const FitOptions& options,
                    Communicator* communicator = nullptr);

// The problem of the training rows, which row_weights weigh when it is not empty (row_weights.hpp makes them of the
// weights of classes). The pool and the communicator must outlive the problem.
template <class Scalar>
std::unique_ptr<Problem<Scalar>> make_problem(const data::Table& training, const Preparation& preparation,
                                              ThreadPool& pool, Communicator* communicator = nullptr,
                                              const Vector<double>& row_weights = {});

// The problem of some rows of a table, each of which row_weights weighs; null: of all. Dense rows whose design would
// take more bytes than most_held are read where they are, again in every pass, and must outlive the problem. The bits
// of what it computes are the same.
template <class Scalar>
std::unique_ptr<Problem<Scalar>> make_problem(const data::TableView& table, const std::vector<Index>* rows,
                                              const Preparation& preparation, ThreadPool& pool,
                                              Communicator* communicator, const Vector<double>& row_weights,
                                              std::size_t most_held = kMostHeld);

// Bytes of a dense design that are worth holding in memory for a solver: none where it reads the rows once, as newton
// does for least squares.
std::size_t worth_holding(const data::TableView& table, const Preparation& preparation, Solver solver);

Model make_model(const data::Table& training, const Preparation& preparation, Weights<double> weights);

}  // namespace lipschitzlr::linear
