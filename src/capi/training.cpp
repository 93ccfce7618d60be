#include "capi/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/advice.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::capi {
namespace {

using linear::Family, linear::Stop, linear::Weights;
using nlohmann::json;

constexpr double kWorthThreads = 2e5;  // values times outputs: for less, starting threads takes longer than they save
constexpr Index kBlock = 4096;         // rows that are scored at a time
constexpr double kDefaultChange = 1e-8;
constexpr Index kSgdBatch = 128;

unsigned threads_for(double work, unsigned wanted) { return work < kWorthThreads ? 1 : wanted; }

Family family_of(const Training& training) {
  const auto classes = training.labels.size();
  if (classes == 0) return Family::linear;
  return classes == 2 ? Family::logistic : Family::softmax;
}

void check_trainable(const Options& options, const Training& training) {
  if (data::rows(training.features) < 2) {
    throw Error(Fault::data, "there is nothing to learn from 1 row (1 sample); give two or more");
  }
  if (training.labels.size() == 1) {
    throw Error(Fault::data, fmt::format("every row has the same class, \"{}\": there is nothing to tell apart",
                                         training.labels.front()));
  }
  if ((options.l1 > 0 || options.l1_share > 0) && !takes_l1(options.solver)) {
    throw Error(Fault::usage, fmt::format("the solver {} can't minimise an L1 penalty; take coordinate, fista or auto",
                                          to_string(options.solver)));
  }
}

linear::Penalty given_penalty(const Options& options) {
  return {.l2 = options.l2.value_or(0), .tikhonov = {}, .spare_last = options.intercept, .l1 = options.l1};
}

data::Scaling scaling_of(const Options& options, const Training& training) {
  return options.scaling.value_or(data::is_dense(training.features) ? data::Scaling::standard : data::Scaling::none);
}

data::TableView table_of(const Training& training) {
  return {training.features, training.target, training.labels, training.names};
}

linear::FitOptions model_options(const Options& options, const Training& training) {
  linear::FitOptions model;
  model.row_weights = training.row_weights;
  model.scaling = scaling_of(options, training);
  model.intercept = options.intercept;
  model.penalty = given_penalty(options);
  model.l1_share = options.l1_share;
  return model;
}

template <class Scalar>
linear::Penalty penalty_of(const Options& options, const Training& training, ThreadPool& pool) {
  if (options.l2 || options.l1 > 0) return given_penalty(options);
  const linear::FitOptions model = model_options(options, training);
  const linear::PenaltyPath path = linear::cross_validate<Scalar>(
      table_of(training), family_of(training), model, options.path, pool, nullptr, [&] { return !options.stop; });
  return linear::with_elastic_net(model.penalty, path.points[path.best].lambda, options.l1_share);
}

// The weights of a model in the coordinates of another scaling.
template <class Scalar>
linear::State<Scalar> state_of(const linear::Model& start, const data::Scaler& scaler, Index outputs) {
  const RawWeights raw = raw_weights(start);
  const Index features = scaler.features();
  if (raw.coefficients.cols() != features || raw.coefficients.rows() != outputs) {
    throw Error(Fault::usage, fmt::format("the model to start from has {} features and {} outputs, the rows ask for {} "
                                          "and {}",
                                          raw.coefficients.cols(), raw.coefficients.rows(), features, outputs));
  }
  const Eigen::Map<const Vector<double>> offsets(scaler.offsets.data(), features);
  const Eigen::Map<const Vector<double>> factors(scaler.factors.data(), features);
  Weights<double> weights(scaler.design_columns(), outputs);
  weights.topRows(features) = factors.cwiseInverse().asDiagonal() * raw.coefficients.transpose();
  if (scaler.intercept) {
    weights.bottomRows(1) = (raw.intercepts + raw.coefficients * offsets).transpose() / scaler.factors.back();
  }
  linear::State<Scalar> state;
  state.weights = weights.template cast<Scalar>();
  return state;
}

// What is learned from the rows before a solver runs; K only where it is needed.
linear::Preparation prepared(const Options& options, const Training& training, const linear::Penalty& penalty,
                             bool needs_bound) {
  linear::FitOptions model = model_options(options, training);
  model.penalty = penalty;
  if (!needs_bound) model.weight_bound = linear::kNoWeightBound;
  return linear::prepare(table_of(training), family_of(training), model);
}

template <class Scalar>
std::unique_ptr<linear::Problem<Scalar>> problem_of(const Training& training, const linear::Preparation& preparation,
                                                    ThreadPool& pool, std::size_t most_held = linear::kMostHeld) {
  return linear::make_problem<Scalar>(table_of(training), nullptr, preparation, pool, nullptr, training.row_weights,
                                      most_held);
}

// As the command line fills them in.
template <class Scalar>
linear::SolverOptions solver_options(const Options& options, const linear::Problem<Scalar>& problem) {
  linear::SolverOptions solver;
  solver.solver = options.solver;
  solver.epochs = options.epochs;
  solver.seed = options.path.seed;
  if (!takes_rate(options.solver)) {
    // 0 of the solver's own stands for its default.
    if (options.tolerance) solver.gap_tolerance = std::max(*options.tolerance, std::numeric_limits<double>::min());
    return solver;
  }
  solver.relative_tolerance = options.tolerance.value_or(kDefaultChange);
  if (options.solver == linear::Solver::sgd) solver.batch = kSgdBatch;
  if (options.solver != linear::Solver::accelerated) solver.constant = linear::advise(problem).kind;
  return solver;
}

bool is_converged(Stop stop) {
  return stop == Stop::gradient_tolerance || stop == Stop::relative_tolerance || stop == Stop::loss_threshold ||
         stop == Stop::certified;
}

template <class Scalar>
json summary_of(const linear::Outcome<Scalar>& outcome, const linear::Problem<Scalar>& problem) {
  return {{"solver", {{"name", to_string(outcome.choice.solver)}, {"reason", outcome.choice.reason}}},
          {"verdict", outcome.verdict},
          {"certified_gap", linear::certified_share(outcome.certified_gap, outcome.last.loss)},
          {"condition", outcome.condition},
          {"l1", problem.setup().penalty.l1},
          {"l2", problem.setup().penalty.l2},
          {"stop", to_string(outcome.stop)},
          {"converged", is_converged(outcome.stop)},
          {"epochs", outcome.last.epoch},
          {"steps", outcome.last.step},
          {"loss", outcome.last.loss},
          {"gradient_norm", outcome.last.gradient_norm},
          {"rate", outcome.last.rate},
          {"seconds", outcome.last.seconds}};
}

template <class Scalar>
linear::Model train_as(const Options& options, const Training& training, const linear::Model* start) {
  const double outputs = static_cast<double>(std::max<std::size_t>(1, training.labels.size()));
  ThreadPool pool(threads_for(data::stored_in(training.features) * outputs, options.threads));
  const linear::Penalty penalty = penalty_of<Scalar>(options, training, pool);
  const linear::Preparation preparation = prepared(options, training, penalty, takes_rate(options.solver));
  const data::Scaler& scaler = preparation.scaler;
  const auto problem = problem_of<Scalar>(training, preparation, pool,
                                          linear::worth_holding(table_of(training), preparation, options.solver));
  linear::State<Scalar> state;
  if (start != nullptr) state = state_of<Scalar>(*start, scaler, problem->setup().classes);
  const auto outcome = linear::solve(*problem, solver_options(options, *problem), std::move(state),
                                     [&](const linear::Progress&) { return !options.stop; });
  if (outcome.stop == Stop::interrupted) throw Error(Fault::interrupted, "interrupted");
  if (outcome.stop == Stop::not_finite) {
    throw Error(Fault::training,
                fmt::format("the loss became NaN or infinite after epoch {}; take another solver", outcome.last.epoch));
  }
  linear::Model model;
  model.family = problem->setup().family;
  model.feature_names = training.names;
  model.has_names = training.has_names;
  model.target_name = "target";
  model.labels = training.labels;
  model.scaler = scaler;
  model.weights = outcome.weights().template cast<double>();
  json summary = summary_of(outcome, *problem);
  if (!options.note.empty()) summary["note"] = options.note;
  model.training = summary.dump(-1, ' ', false, json::error_handler_t::replace);
  return model;
}

template <class Scalar>
json rates_as(const Options& options, const Training& training) {
  ThreadPool pool(threads_for(data::stored_in(training.features), options.threads));
  const auto problem = problem_of<Scalar>(training, prepared(options, training, given_penalty(options), true), pool);
  json constants = json::array();
  for (const linear::ConstantKind kind : linear::kConstantKinds) {
    const bound::Constant constant = problem->constant(kind);
    json inputs = json::object();
    for (const bound::Input& input : constant.inputs) inputs[input.symbol] = input.value;
    constants.push_back({{"name", constant.name},
                         {"value", constant.value},
                         {"rate", constant.rate()},
                         {"formula", constant.formula},
                         {"inputs", inputs}});
  }
  return {{"constants", constants}};
}

}  // namespace

linear::Model train(const Options& options, const Training& training, const linear::Model* start) {
  check_trainable(options, training);
  return is_single(training.features) ? train_as<float>(options, training, start)
                                      : train_as<double>(options, training, start);
}

std::string rates(const Options& options, const Training& training) {
  check_trainable(options, training);
  return (is_single(training.features) ? rates_as<float>(options, training) : rates_as<double>(options, training))
      .dump();
}

RawWeights raw_weights(const linear::Model& model) {
  const data::Scaler& scaler = model.scaler;
  const Index features = scaler.features();
  const Eigen::Map<const Vector<double>> offsets(scaler.offsets.data(), features);
  const Eigen::Map<const Vector<double>> factors(scaler.factors.data(), features);
  RawWeights raw{(factors.asDiagonal() * model.weights.topRows(features)).transpose(), {}};
  raw.intercepts = -raw.coefficients * offsets;
  if (scaler.intercept) raw.intercepts += model.weights.bottomRows(1).transpose() * scaler.factors.back();
  return raw;
}

DenseMatrix<double> scores(const linear::Model& model, const data::FeatureView& features, unsigned threads) {
  const Index rows = data::rows(features);
  ThreadPool pool(threads_for(data::stored_in(features) * static_cast<double>(model.weights.cols()), threads));
  DenseMatrix<double> all(rows, model.weights.cols());
  for (Index first = 0; first < rows; first += kBlock) {
    const Index count = std::min(kBlock, rows - first);
    const auto design = model.scaler.design<double>(middle_rows(features, first, count), &pool);
    all.middleRows(first, count) =
        std::visit([&](const auto& matrix) { return linear::scores(matrix, model.weights, pool); }, design);
  }
  return all;
}

}  // namespace lipschitzlr::capi
