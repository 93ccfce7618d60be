#include "lipschitzlr/run/fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/cores.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/table/split.hpp"
#include "lipschitzlr/linear/advice.hpp"
#include "lipschitzlr/linear/held_rows.hpp"
#include "lipschitzlr/run/interrupt.hpp"
#include "lipschitzlr/run/record.hpp"
#include "run/design_remarks.hpp"
#include "run/fit_progress.hpp"
#include "run/fit_summary.hpp"
#include "run/record_writer.hpp"

namespace lipschitzlr::run {
namespace {

using linear::Stop;
using nlohmann::json;

constexpr double kDefaultChange = 1e-8;
constexpr double kDefaultValidation = 0.1;

// The share of L1 in what cross-validation has to choose; nothing when the penalty is given.
std::optional<double> share_to_choose(const FitRequest& options) {
  if (options.elastic_net) return options.lambda ? std::nullopt : options.elastic_net;
  if (options.choose_l1) return 1;
  const bool other = !options.data.tikhonov.empty() || options.data.l1 > 0;
  return options.choose_l2 && !other ? std::optional<double>(0) : std::nullopt;
}

bool has_l1(const FitRequest& options) {
  return options.data.l1 > 0 || options.choose_l1 || options.elastic_net.value_or(0) > 0;
}

std::string flags_of_penalty(const FitRequest& options) {
  if (options.elastic_net) return fmt::format("--elastic-net {} --lambda", *options.elastic_net);
  return options.choose_l1 ? "--l1" : "--l2";
}

// Collective.
template <class Scalar>
ChosenPenalty cross_validate(const FitRequest& options, double l1_share, const Prepared& prepared, ThreadPool& pool,
                             Communicator* communicator, const InterruptGuard& guard) {
  const auto start = std::chrono::steady_clock::now();
  ChosenPenalty chosen{.flags = flags_of_penalty(options), .l1_share = l1_share, .path = {}};
  if (is_root(communicator) && options.verbosity != Verbosity::silent) {
    print_stderr("choosing the penalty by cross-validation; {} NUMBER leaves that out\n", chosen.flags);
  }
  const linear::PathOptions path{options.folds.value_or(0), options.path.value_or(linear::PathOptions().values),
                                 options.data.seed};
  linear::FitOptions model = model_of(options.data);
  model.row_weights = prepared.train_weights;
  model.l1_share = l1_share;
  chosen.path = linear::cross_validate<Scalar>(prepared.train, prepared.setup.family, model, path, pool, communicator,
                                               [&] { return !guard.interrupted(); });
  chosen.seconds = seconds_since(start);
  return chosen;
}

// Fills in the penalty and says in the result where it comes from; collective.
template <class Scalar>
void choose_penalty(FitRequest& options, Prepared& prepared, ThreadPool& pool, Communicator* communicator,
                    const InterruptGuard& guard, FitResult& result) {
  DataOptions& data = options.data;
  const std::optional<double> share = share_to_choose(options);
  double lambda = options.lambda.value_or(0);
  if (share && !options.resume.empty()) {
    lambda =
        *number_from(from_root(communicator, [&] { return json(lambda_to_resume(options.resume, *share)).dump(); }));
  } else if (share) {
    result.chosen_penalty = cross_validate<Scalar>(options, *share, prepared, pool, communicator, guard);
    const linear::PenaltyPath& path = result.chosen_penalty->path;
    lambda = path.points[path.best].lambda;
  }
  if (share || options.elastic_net) {
    const linear::Penalty sum = linear::with_elastic_net({.l2 = data.l2, .l1 = data.l1}, lambda,
                                                         share.value_or(options.elastic_net.value_or(0)));
    data.l1 = sum.l1;
    data.l2 = sum.l2;
    if (options.elastic_net) options.lambda = lambda;
    learn_preparation(data, prepared, communicator);
  }
  options.choose_l1 = options.choose_l2 = false;
  result.l1 = data.l1;
  result.l2 = data.l2;
}

// Moves rows of the training out of it, for early stopping; nothing without that. What was learnt of them is forgotten.
// Collective.
std::optional<linear::HeldRows> hold_rows_out(FitRequest& options, Prepared& prepared, Communicator* communicator,
                                              FitResult& result) {
  if (options.training.patience == 0) return std::nullopt;
  Random random(options.data.seed);
  const double share = options.validation.value_or(kDefaultValidation);
  if (std::lround(share * static_cast<double>(prepared.train_rows)) == 0) {
    throw Error(Fault::usage,
                fmt::format("--validation {} of {} rows leaves no rows to hold out; give a larger share, or "
                            "leave --patience out",
                            share, prepared.train_rows));
  }
  options.validation = share;
  const data::Split split = data::split_rows(prepared.train, share, random, communicator);
  const data::Table held = data::take_rows(prepared.train, split.test);
  prepared.train = data::take_rows(prepared.train, split.train);
  Vector<double> held_weights;
  if (prepared.train_weights.size() > 0) {
    held_weights = prepared.train_weights(split.test);
    prepared.train_weights = Vector<double>(prepared.train_weights(split.train));
  }
  const auto rows = static_cast<Index>(all_reduce_sum(communicator, static_cast<double>(held.rows())));
  prepared.train_rows -= rows;
  result.kept = KeptWeights{.rows = rows};
  learn_preparation(options.data, prepared, communicator);
  return linear::HeldRows(held, prepared.scaler, std::move(held_weights));
}

// Fills in the solver and its tolerance.
template <class Scalar>
void choose_solver(const linear::Problem<Scalar>& problem, FitRequest& options, FitResult& result) {
  result.choice = options.solver == Solver::automatic ? linear::choose_solver(linear::shape_of(problem))
                                                      : linear::Choice{options.solver, "as asked for"};
  linear::SolverOptions& training = options.training;
  training.solver = options.solver = result.choice.solver;
  if (takes_rate(options.solver)) {
    training.relative_tolerance = options.tolerance.value_or(kDefaultChange);
  } else if (options.tolerance) {
    // 0 of the solver's own stands for its default.
    training.gap_tolerance = std::max(*options.tolerance, std::numeric_limits<double>::min());
  }
  training.seed = options.data.seed;
}

// Fills in the usual batch. Rows that a disk has are read from the first to the last.
void choose_batch(FitRequest& options, const Prepared& prepared) {
  if (options.solver == Solver::sgd && options.training.batch == 0) options.training.batch = 128;
  const auto* const rows = std::get_if<StreamedRows<double>>(&prepared.train.features);
  if (rows == nullptr || options.training.batch == 0 || options.training.batch >= prepared.train_rows) return;
  throw Error(Fault::usage,
              fmt::format("{}: --solver {} with --batch {} takes rows in a random order, but they are more than "
                          "--memory and are read block by block: take --solver auto, or give a larger --memory",
                          display_name(options.data.source), to_string(options.solver), options.training.batch));
}

// Fills in where the rate comes from and says it in the result.
template <class Scalar>
void choose_rate(const linear::Problem<Scalar>& problem, FitRequest& options, FitResult& result) {
  if (!takes_rate(options.solver)) return;
  if (options.training.rate) {
    result.rate_source = fmt::format("{}, as given", *options.training.rate);
    return;
  }
  if (!options.constant && options.solver == Solver::accelerated) {
    options.constant = linear::ConstantKind::gradient;
    result.advice = "acceleration is proven for 1/beta";
  } else if (!options.constant) {
    const linear::Advice advice = linear::advise(problem);
    options.constant = advice.kind;
    result.advice = advice.reason;
  }
  options.training.constant = *options.constant;
  result.rate_source = problem.constant(*options.constant).explain();
}

template <class Scalar>
linear::State<Scalar> starting_state(const linear::Problem<Scalar>& problem, const FitRequest& options,
                                     const json& setting) {
  linear::State<Scalar> state;
  if (!options.resume.empty()) {
    const std::string text =
        from_root(problem.communicator(), [&] { return state_to_resume(options.resume, setting); });
    state = linear::state_from_json<Scalar>(text, options.resume);
    if (state.weights.size() > 0) return state;
    throw Error(Fault::data, fmt::format("{}: there are no weights to resume from", options.resume));
  }
  if (options.random_start) {
    Random random(options.training.seed);
    state.weights = problem.zero_weights();
    for (Scalar& weight : state.weights.reshaped()) weight = static_cast<Scalar>(random.normal());
  }
  return state;
}

bool can_resume(Stop stop) { return stop == Stop::interrupted || stop == Stop::epochs || stop == Stop::seconds; }

// Rank 0's wish alone counts: the others may have none.
std::optional<RecordWriter> begin_record(const FitRequest& options, const json& setting, Communicator* communicator) {
  std::optional<RecordWriter> record;
  from_root(communicator, [&] {
    if (options.record.empty()) return "";
    record = RecordWriter(options.record, {{"kind", kFit}, {"command", options.command}, {"options", setting}});
    return "";
  });
  return record;
}

// What stands in the way of standard errors before anything is computed; empty: nothing.
std::string obstacle_to_errors(const FitRequest& options, const linear::Penalty& penalty, Stop stop) {
  const bool at_optimum = stop == Stop::certified || (!takes_rate(options.solver) && stop == Stop::relative_tolerance);
  if (stop == Stop::separable) {
    return "the columns tell the classes apart without a mistake, so that the coefficients have no finite optimum";
  }
  if (!penalty.empty()) return "the penalty draws the coefficients towards 0; fit with --l2 0 and no other penalty";
  if (!options.data.class_weight.empty()) return "--class-weight changes how often classes occur; fit without it";
  if (options.single_precision) return "--single has too few digits for them; fit without it";
  if (!at_optimum && takes_rate(options.solver)) return "the solver proves no optimum; take --solver newton";
  if (!at_optimum) return "the training ended before the optimum; give it more --epochs or --seconds";
  return "";
}

// Deviations of the features, and where they are valid standard errors; the weights then move to the optimum.
// Collective.
template <class Scalar>
linear::Inference infer(const FitRequest& options, const Prepared& prepared, const linear::Problem<Scalar>& problem,
                        linear::Weights<Scalar>& weights, FitResult& result) {
  linear::Inference inference;
  inference.deviations =
      data::column_deviations(data::view_of(prepared.train.features), prepared.train_weights, problem.communicator());
  inference.obstacle = obstacle_to_errors(options, problem.setup().penalty, result.stop);
  if constexpr (std::is_same_v<Scalar, double>) {
    if (!inference.obstacle.empty()) return inference;
    const auto start = std::chrono::steady_clock::now();
    const auto optimum = linear::add_standard_errors(problem, prepared.scaler, weights, inference);
    result.seconds += seconds_since(start);
    if (!optimum) return inference;
    result.last.loss = optimum->loss;
    result.last.gradient_norm = optimum->gradient_norm;
    result.certified_gap = linear::certified_share(optimum->gap, optimum->loss);
    result.verdict = linear::certified_verdict(optimum->gap, optimum->loss, true);
  }
  return inference;
}

// What rows of all processes are measured by.
struct Scored {
  DenseMatrix<double> scores;
  Vector<double> target, weights;
};

// Collective; scores: of the rows of this process.
Scored gather_scores(const DenseMatrix<double>& scores, const Vector<double>& target, const Vector<double>& weights,
                     Communicator* communicator) {
  if (communicator == nullptr) return {scores, target, weights};
  const auto gather = [&](const auto& own) {
    const std::vector<double> all = all_gather(communicator, {own.data(), own.data() + own.size()});
    return Vector<double>(Eigen::Map<const Vector<double>>(all.data(), static_cast<Index>(all.size())));
  };
  const Vector<double> all = gather(scores);
  Scored scored{{}, gather(target), gather(weights)};
  scored.scores = Eigen::Map<const DenseMatrix<double>>(all.data(), scored.target.size(), scores.cols());
  return scored;
}

// What comes after the training: measures, the summary, what a later run needs to continue, the end of the record.
template <class Scalar>
void conclude(const json& setting, const linear::State<Scalar>& state, const Scored& train, const Scored& test,
              std::optional<RecordWriter>& record, FitResult& result) {
  const linear::Model& model = result.model;
  result.train = linear::measure(model.family, train.scores, train.target, model.classes(), train.weights);
  if (test.target.size() > 0) {
    result.test = linear::evaluate(model.family, test.scores, test.target, model.labels, test.weights);
  }
  result.weights_not_zero = (model.weights.topRows(model.scaler.features()).array() != 0).rowwise().any().count();
  result.warnings = warnings_of(result);
  const json summary = summary_of(setting, result);
  result.summary = to_text(summary);
  result.model.training = to_text(without_curves(summary));
  if (can_resume(result.stop)) {
    result.model.resume = to_text({{"setting", setting}, {"state", json::parse(to_json(state))}});
  }
  if (!record) return;
  try {
    record->finish(summary);
  } catch (const Error& error) {
    result.record_failure = error.what();
  }
}

template <class Scalar>
FitResult fit_as(FitRequest options, Prepared prepared, Communicator* communicator) {
  const bool weighs = all_reduce_max(communicator, prepared.test_weights.size() > 0 ? 1.0 : 0.0) > 0;
  if (weighs && !(all_reduce_sum(communicator, prepared.test_weights.sum()) > 0)) {
    throw Error(Fault::data, "the rows of --holdout all weigh 0; take a larger share, or another --seed");
  }
  ThreadPool pool(threads_beside(communicator, options.threads));
  const InterruptGuard guard;
  FitResult result;
  result.bytes_read = prepared.bytes_read;
  const std::optional<linear::HeldRows> held = hold_rows_out(options, prepared, communicator, result);
  choose_batch(options, prepared);
  choose_penalty<Scalar>(options, prepared, pool, communicator, guard, result);
  const auto problem =
      linear::make_problem<Scalar>(prepared.train, nullptr, prepared, pool, communicator, prepared.train_weights,
                                   linear::worth_holding(prepared.train, prepared, options.solver));
  choose_solver(*problem, options, result);
  choose_rate(*problem, options, result);
  if (held) {
    options.training.held_out = [&](const linear::Weights<double>& weights) {
      return held->loss(prepared.setup, weights, pool, communicator);
    };
  }
  const linear::SolverOptions& training = options.training;

  const json setting = setting_of(options, prepared, communicator);
  std::optional<RecordWriter> record = begin_record(options, setting, communicator);
  FitProgress progress(is_root(communicator) ? options.verbosity : Verbosity::silent, training.epochs, training.seconds,
                       options.watch);
  const linear::Observer observer = [&](const linear::Progress& now) {
    progress.show(now);
    if (record) record->add(now);
    return !guard.interrupted();
  };
  const auto outcome = linear::solve(*problem, training, starting_state(*problem, options, setting), observer);
  progress.finish(outcome.last);
  result.last = outcome.last;
  result.stop = outcome.stop;
  result.checks = outcome.checks;
  result.verdict = outcome.verdict;
  result.certified_gap = linear::certified_share(outcome.certified_gap, outcome.last.loss);
  result.condition = outcome.condition;
  result.seconds = outcome.last.seconds + (result.chosen_penalty ? result.chosen_penalty->seconds : 0);
  if (held) result.kept = {result.kept->rows, outcome.state.best_epoch, outcome.state.best_loss};
  linear::Weights<Scalar> weights = outcome.weights();
  linear::Inference inference = infer(options, prepared, *problem, weights, result);
  result.model = linear::make_model(prepared.train, prepared, weights.template cast<double>());
  result.model.inference = std::move(inference);
  result.model.encoder = prepared.encoder;
  result.remarks = design_remarks(*problem, prepared, result);  // collective, as is what follows
  const Scored train =
      gather_scores(problem->own_scores(weights), prepared.train.target, prepared.train_weights, communicator);
  Scored test;
  if (prepared.test_rows > 0) {
    test = gather_scores(linear::scores(result.model, prepared.test.features, pool), prepared.test.target,
                         prepared.test_weights, communicator);
  }
  if (is_root(communicator)) conclude(setting, outcome.state, train, test, record, result);
  return result;
}

}  // namespace

bool has_penalty(const FitRequest& options) {
  const DataOptions& data = options.data;
  return share_to_choose(options) || options.lambda.value_or(0) > 0 || data.l1 > 0 || data.l2 > 0 ||
         !data.tikhonov.empty();
}

void check(const FitRequest& options) {
  const auto refuse = [](bool wrong, const std::string& sentence) {
    if (wrong) throw Error(Fault::usage, sentence);
  };
  const linear::SolverOptions& training = options.training;
  const std::optional<double>& rate = training.rate;
  refuse(!takes_rate(options.solver) && (rate || options.constant || training.batch != 0),
         fmt::format("--solver {} takes neither --rate nor --batch: it needs no rate and all rows; take --solver gd, "
                     "accelerated or sgd",
                     to_string(options.solver)));
  const bool crosses = options.folds || options.path;  // cross-validates
  refuse(crosses && !share_to_choose(options),
         "--folds and --path choose the penalty, but it is given: leave them out, or take --l2 auto, --l1 auto or "
         "--elastic-net without --lambda");
  refuse(options.lambda && !options.elastic_net,
         "--lambda is the strength of --elastic-net SHARE: give that too, or --l1 or --l2 instead");
  refuse(options.elastic_net && (options.data.l1 > 0 || options.choose_l1 || !options.choose_l2),
         "--elastic-net is both penalties, of strength --lambda: leave --l1 and --l2 out");
  refuse(options.data.penalize_intercept && !options.data.intercept,
         "--penalize-intercept: there is no intercept with --no-intercept; leave one of them out");
  refuse((has_l1(options) || options.elastic_net) && !options.data.tikhonov.empty(),
         "--l1 and --elastic-net do not go with --tikhonov; leave one of them out");
  refuse(has_l1(options) && !takes_l1(options.solver),
         fmt::format("--solver {} can't minimise an L1 penalty; take --solver coordinate, fista or auto",
                     to_string(options.solver)));
  refuse(options.solver == Solver::coordinate && !options.data.tikhonov.empty(),
         "--solver coordinate minimises L1 and L2, not --tikhonov; take --solver auto");
  refuse(training.patience > 0 && !takes_rate(options.solver),
         fmt::format("--patience does nothing with --solver {}, which ends at the optimum: leave it out, or take "
                     "--solver sgd",
                     to_string(options.solver)));
  refuse(options.validation && training.patience == 0,
         "--validation holds rows out for --patience: give that too, or take --holdout to test the model");
  refuse(crosses && !options.resume.empty(),
         "--folds and --path choose the penalty, which --resume takes from the unfinished run; leave them out");
  refuse(rate && !(std::isfinite(*rate) && *rate > 0), "--rate: expected a number above 0");
  const rate::RuleOptions& rule = training.rule;
  const bool computes = training.recompute != linear::Recompute::never || rule.fixed || rule.first_rate ||
                        rule.initial_k1 || rule.initial_k2 || rule.hold_averages || rule.coded_denominator;
  refuse(rate && computes, fmt::format("--rate {} is a number: nothing is computed, so leave out --recompute, "
                                       "--first-rate, --fixed, --k1, --k2, --hold-averages and --coded-denominator",
                                       rate.value_or(0)));
  refuse(rule.hold_averages && !(rule.initial_k1 && rule.initial_k2), "--hold-averages needs --k1 and --k2 to hold");
  refuse(options.solver == Solver::accelerated && training.batch != 0,
         "the accelerated solver works on all rows; leave --batch out or take --solver sgd");
}

FitResult fit(const FitRequest& options, Prepared prepared, Communicator* communicator) {
  check(options);
  // Before the penalty is chosen, which may take long.
  from_root(communicator, [&] {
    if (!options.record.empty()) require_no_record(options.record);
    return std::string();
  });
  if (communicator != nullptr) expect_same_fit(*communicator, options, prepared);
  return options.single_precision ? fit_as<float>(options, std::move(prepared), communicator)
                                  : fit_as<double>(options, std::move(prepared), communicator);
}

}  // namespace lipschitzlr::run
