#include "lipschitzlr/linear/fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "linear/design.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/weights.hpp"
#include "lipschitzlr/linear/cross_validation.hpp"

namespace lipschitzlr::linear {
namespace {

void check_trainable(const data::Table& table, Family family, Communicator* communicator) {
  const double rows = all_reduce_sum(communicator, static_cast<double>(table.rows()));
  if (rows < 2) {
    throw Error(Fault::data, fmt::format("there is nothing to learn from {} row{}", rows, rows == 1 ? "" : "s"));
  }
  if (all_reduce_sum(communicator, static_cast<double>(table.target.size())) != rows) {
    throw Error(Fault::data, "the table has no target to learn");
  }
  if (family != Family::linear && table.labels.size() < 2) {
    throw Error(Fault::data, fmt::format("every row has the same class, \"{}\": there is nothing to tell apart",
                                         table.labels.empty() ? "" : table.labels.front()));
  }
}

Family family_of_target(const data::Table& table) {
  if (!table.is_classified()) return Family::linear;
  return table.labels.size() == 2 ? Family::logistic : Family::softmax;
}

// Levels and gaps stay 0 and 1 beside numbers of deviation 1, so that a penalty draws a rare level, of which little is
// known, nearer to the others than a frequent one. Numbers of an encoded sparse matrix are centred already.
data::Scaler learn_scaler(const data::TableView& training, const FitOptions& options, Communicator* communicator) {
  const bool dense = training.is_dense();
  const bool encoded = !training.indicators.empty();
  const data::Scaling scaling =
      options.scaling.value_or(dense || encoded ? data::Scaling::standard : data::Scaling::none);
  const bool spares = encoded && scaling == data::Scaling::standard;
  data::Scaler scaler =
      data::Scaler::learn(spares && !dense ? data::Scaling::none : scaling, training.features, options.intercept,
                          training.feature_names, options.row_weights, communicator);
  if (!spares) return scaler;
  scaler.kind = scaling;
  const std::vector<double> deviations =
      dense ? std::vector<double>() : data::column_deviations(training.features, options.row_weights, communicator);
  for (std::size_t i = 0; i < training.indicators.size(); ++i) {
    if (training.indicators[i]) {
      scaler.offsets[i] = 0;
      scaler.factors[i] = 1;
    } else if (!dense && deviations[i] > 0) {
      scaler.factors[i] = 1 / deviations[i];
    }
  }
  return scaler;
}

}  // namespace

Family choose_family(std::optional<Family> wanted, data::Table& table, Communicator* communicator) {
  const bool by_looks = !wanted && data::looks_like_classes(table, communicator);
  if (!table.is_classified() && (by_looks || wanted.value_or(Family::linear) != Family::linear)) {
    data::make_classes(table, communicator);
  }
  const Family family = wanted.value_or(family_of_target(table));
  check_trainable(table, family, communicator);
  if (family == Family::linear && table.is_classified()) {
    throw Error(Fault::usage,
                fmt::format("linear regression needs a numeric target, but \"{}\" has the classes {}; take {}",
                            table.target_name, fmt::join(table.labels, ", "), to_string(family_of_target(table))));
  }
  if (family == Family::logistic && table.labels.size() != 2) {
    throw Error(Fault::usage, fmt::format("logistic regression needs two classes, but \"{}\" has {}; take softmax",
                                          table.target_name, table.labels.size()));
  }
  return family;
}

Preparation prepare(const data::TableView& training, Family family, const FitOptions& options,
                    Communicator* communicator) {
  const Index classes = family == Family::softmax ? static_cast<Index>(training.labels.size()) : 1;
  // Where K is given, follows from the penalty or does not occur, the guess from the features is not worth a pass.
  const bool guesses = !options.weight_bound && (family == Family::linear || !options.penalty.tikhonov.empty());
  const double guess =
      guesses ? std::visit([&](const auto& view) { return bound::weight_bound_estimate(view, communicator); },
                           training.features)
              : 0;
  return {{family, classes, options.penalty,
           options.weight_bound.value_or(default_weight_bound(family, classes, options.penalty, guess))},
          learn_scaler(training, options, communicator)};
}

template <class Scalar>
std::unique_ptr<Problem<Scalar>> make_problem(const data::Table& training, const Preparation& preparation,
                                              ThreadPool& pool, Communicator* communicator,
                                              const Vector<double>& row_weights) {
  return make_problem<Scalar>(training, nullptr, preparation, pool, communicator, row_weights,
                              std::numeric_limits<std::size_t>::max());
}

template <class Scalar>
std::unique_ptr<Problem<Scalar>> make_problem(const data::TableView& table, const std::vector<Index>* rows,
                                              const Preparation& preparation, ThreadPool& pool,
                                              Communicator* communicator, const Vector<double>& row_weights,
                                              std::size_t most_held) {
  const Index count = rows == nullptr ? table.rows() : static_cast<Index>(rows->size());
  if (row_weights.size() != 0 && row_weights.size() != count) {
    throw Error(Fault::usage,
                fmt::format("there are {} rows to learn from but {} weights of rows", count, row_weights.size()));
  }
  Vector<Scalar> target = rows == nullptr ? Vector<Scalar>(table.target.template cast<Scalar>())
                                          : Vector<Scalar>(table.target(*rows).template cast<Scalar>());
  // Not make_unique, through which the design would be moved: Eigen copies a sparse matrix that is moved.
  return std::unique_ptr<Problem<Scalar>>(
      new Problem<Scalar>(design_of<Scalar>(table.features, rows, preparation.scaler, &pool, most_held),
                          std::move(target), preparation.setup, pool, communicator, row_weights));
}

std::size_t worth_holding(const data::TableView& table, const Preparation& preparation, Solver solver) {
  if (preparation.setup.family != Family::linear || !table.is_dense()) return kMostHeld;
  Shape shape{Family::linear, table.rows(), preparation.scaler.design_columns()};
  shape.l1 = preparation.setup.penalty.l1 > 0;
  shape.penalised = !preparation.setup.penalty.empty();
  const Solver chosen = solver == Solver::automatic ? choose_solver(shape).solver : solver;
  return chosen == Solver::newton ? 0 : kMostHeld;
}

Model make_model(const data::Table& training, const Preparation& preparation, Weights<double> weights) {
  return {table_model(preparation.setup.family, training, preparation.scaler), std::move(weights), "{}", "", {}};
}

Model fit(data::Table table, const FitOptions& options) {
  const Family family = choose_family(options.family, table);
  ThreadPool pool(options.threads);
  FitOptions prepared = options;
  if (!takes_rate(options.solver.solver)) prepared.weight_bound = options.weight_bound.value_or(kNoWeightBound);
  Preparation preparation = prepare(table, family, prepared);
  if (options.choose_penalty && options.penalty.empty()) {
    FitOptions path_options = options;
    path_options.penalty.spare_last = options.intercept;
    const PenaltyPath path = cross_validate<double>(table, family, path_options, {}, pool);
    preparation.setup.penalty = with_elastic_net(path_options.penalty, path.points[path.best].lambda, options.l1_share);
  }
  const std::size_t held = std::min(options.most_held, worth_holding(table, preparation, options.solver.solver));
  const auto problem = make_problem<double>(table, nullptr, preparation, pool, nullptr, options.row_weights, held);
  const auto outcome = solve(*problem, options.solver, State<double>{});
  if (outcome.stop == Stop::not_finite) {
    throw Error(Fault::training,
                fmt::format("the loss became NaN or infinite after epoch {}; take a smaller rate", outcome.last.epoch));
  }
  Model model = make_model(table, preparation, outcome.state.weights);
  model.training = nlohmann::json{{"stop", to_string(outcome.stop)},   {"solver", to_string(outcome.choice.solver)},
                                  {"verdict", outcome.verdict},        {"l1", problem->setup().penalty.l1},
                                  {"l2", problem->setup().penalty.l2}, {"epochs", outcome.last.epoch},
                                  {"loss", outcome.last.loss},         {"gradient_norm", outcome.last.gradient_norm}}
                       .dump();
  return model;
}

template std::unique_ptr<Problem<float>> make_problem(const data::Table&, const Preparation&, ThreadPool&,
                                                      Communicator*, const Vector<double>&);
template std::unique_ptr<Problem<double>> make_problem(const data::Table&, const Preparation&, ThreadPool&,
                                                       Communicator*, const Vector<double>&);
template std::unique_ptr<Problem<float>> make_problem(const data::TableView&, const std::vector<Index>*,
                                                      const Preparation&, ThreadPool&, Communicator*,
                                                      const Vector<double>&, std::size_t);
template std::unique_ptr<Problem<double>> make_problem(const data::TableView&, const std::vector<Index>*,
                                                       const Preparation&, ThreadPool&, Communicator*,
                                                       const Vector<double>&, std::size_t);

}  // namespace lipschitzlr::linear
