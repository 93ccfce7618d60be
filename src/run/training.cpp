#include "lipschitzlr/run/training.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/cores.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/linear/advice.hpp"
#include "lipschitzlr/linear/reference.hpp"
#include "lipschitzlr/run/interrupt.hpp"
#include "run/account.hpp"
#include "run/fit_progress.hpp"
#include "run/record_writer.hpp"

namespace lipschitzlr::run {
namespace {

using linear::Algorithm;
using linear::Stop;
using nlohmann::json;

constexpr const char* kLbfgs = "lbfgs";

Algorithm algorithm_from(const std::string& name) {
  for (Algorithm algorithm : {Algorithm::gd, Algorithm::accelerated, Algorithm::sgd, Algorithm::adamo,
                              Algorithm::rmsprop, Algorithm::auto_adam}) {
    if (to_string(algorithm) == name) return algorithm;
  }
  throw Error(Fault::usage,
              fmt::format("--solver {}: there are gd, accelerated, sgd, adamo, rmsprop, auto-adam and lbfgs", name));
}

// Fills in where the rate comes from and says it in the result.
template <class Scalar>
void choose_rate(const linear::Problem<Scalar>& problem, const TrainingChoice& choice, linear::SolverOptions& options,
                 TrainingResult& result) {
  if (choice.solver == kLbfgs) {
    result.rate_source = "none: L-BFGS searches along each line";
    return;
  }
  if (const auto number = number_from(choice.rate)) {
    options.rate = number;
    result.rate_source = fmt::format("{}, as given", *number);
    return;
  }
  if (choice.rate == "auto" && options.algorithm != Algorithm::accelerated) {
    const linear::Advice advice = linear::advise(problem);
    options.constant = advice.kind;
    result.advice = advice.reason;
  } else if (choice.rate == "auto") {
    options.constant = linear::ConstantKind::gradient;
    result.advice = "acceleration is proven for 1/beta";
  } else {
    options.constant = bound::constant_kind_from(choice.rate).value();
  }
  result.rate_source = problem.constant(options.constant).explain();
}

template <class Scalar>
linear::State<Scalar> starting_state(const linear::Problem<Scalar>& problem, const TrainingChoice& choice,
                                     const json& setting) {
  linear::State<Scalar> state;
  if (!choice.resume.empty()) {
    Communicator* const communicator = problem.communicator();
    const std::string text = from_root(communicator, [&] { return resume_text(choice.resume, setting); });
    state = linear::state_from_json<Scalar>(text, choice.resume);
    if (state.weights.size() > 0) return state;
    throw Error(Fault::data, fmt::format("{}: there are no weights to resume from", choice.resume));
  }
  if (choice.random_start) {
    Random random(choice.options.seed);
    state.weights = problem.zero_weights();
    for (Scalar& weight : state.weights.reshaped()) weight = static_cast<Scalar>(random.normal());
  }
  return state;
}

bool can_resume(Stop stop, const TrainingChoice& choice) {
  return choice.solver != kLbfgs && (stop == Stop::interrupted || stop == Stop::epochs || stop == Stop::seconds);
}

linear::Model make_model(const Prepared& prepared, linear::Weights<double> weights) {
  linear::Model model;
  model.family = prepared.setup.family;
  model.feature_names = prepared.train.feature_names;
  model.target_name = prepared.train.target_name;
  model.target_column = prepared.train.target_column;
  model.labels = prepared.train.labels;
  model.scaler = prepared.scaler;
  model.weights = std::move(weights);
  return model;
}

linear::Metrics measure_on(const linear::Model& model, const data::Table& table, ThreadPool& pool) {
  return linear::measure(model.family, linear::scores(model, table.features, pool), table.target, model.classes());
}

// Each process may have a wish of its own, so all ask for their share whether they need it or not.
unsigned threads_beside(Communicator* communicator, unsigned wanted) {
  const unsigned share = communicator != nullptr ? share_of_cores(*communicator) : 0;
  return wanted > 0 ? wanted : share;
}

// Rank 0's wish alone counts: the others may have none.
std::optional<RecordWriter> begin_record(const TrainingChoice& choice, const json& setting,
                                         Communicator* communicator) {
  std::optional<RecordWriter> record;
  from_root(communicator, [&] {
    if (choice.record.empty()) return "";
    record = RecordWriter(choice.record, {{"kind", kFit}, {"command", choice.command}, {"options", setting}});
    return "";
  });
  return record;
}

// What comes after the training: measures, the account, what a later run needs to go on, the end of the record.
template <class Scalar>
void conclude(const Prepared& prepared, const TrainingChoice& choice, const json& setting,
              const linear::State<Scalar>& state, ThreadPool& pool, std::optional<RecordWriter>& record,
              TrainingResult& result) {
  result.train = measure_on(result.model, prepared.train, pool);
  if (prepared.test.rows() > 0) result.test = measure_on(result.model, prepared.test, pool);
  const json account = account_of(setting, result);
  result.model.training = to_text(account);
  if (can_resume(result.stop, choice)) {
    result.model.resume = to_text({{"setting", setting}, {"state", json::parse(to_json(state))}});
  }
  if (!record) return;
  try {
    record->finish(account);
  } catch (const Error& error) {
    result.record_failure = error.what();
  }
}

template <class Scalar>
TrainingResult train_as(const DataChoice& data, const Prepared& prepared, const TrainingChoice& choice,
                        Communicator* communicator) {
  ThreadPool pool(threads_beside(communicator, choice.threads));
  const auto problem = make_problem<Scalar>(prepared, pool, communicator);
  TrainingResult result;
  linear::SolverOptions options = choice.options;
  if (choice.solver != kLbfgs) options.algorithm = algorithm_from(choice.solver);
  if (options.algorithm == Algorithm::sgd && options.batch == 0) options.batch = 128;
  choose_rate(*problem, choice, options, result);

  const json setting = setting_of(data, prepared, choice, options);
  std::optional<RecordWriter> record = begin_record(choice, setting, communicator);
  FitProgress progress(is_root(communicator) ? choice.verbosity : Verbosity::silent, options.epochs, options.seconds,
                       choice.watch);
  const InterruptGuard guard;
  const linear::Observer observer = [&](const linear::Progress& now) {
    progress.show(now);
    if (record) record->add(now);
    return !guard.interrupted();
  };
  auto state = starting_state(*problem, choice, setting);
  auto outcome = choice.solver == kLbfgs ? linear::solve_lbfgs(*problem, options, std::move(state), observer)
                                         : linear::solve(*problem, options, std::move(state), observer);
  progress.finish(outcome.last);
  result.last = outcome.last;
  result.stop = outcome.stop;
  result.checks = outcome.checks;
  result.model = make_model(prepared, outcome.state.weights.template cast<double>());
  if (is_root(communicator)) conclude(prepared, choice, setting, outcome.state, pool, record, result);
  return result;
}

}  // namespace

void check(const TrainingChoice& choice) {
  const auto refuse = [](bool wrong, const std::string& sentence) {
    if (wrong) throw Error(Fault::usage, sentence);
  };
  const bool searches = choice.solver == kLbfgs;
  const std::optional<double> number = number_from(choice.rate);
  if (!searches) algorithm_from(choice.solver);
  refuse(searches && (choice.rate != "auto" || choice.options.batch != 0),
         "--solver lbfgs takes neither --rate nor --batch: it searches along each line, over all rows");
  refuse(!number && choice.rate != "auto" && !bound::constant_kind_from(choice.rate),
         fmt::format("--rate {}: give a number, auto, published, coded, certified or gradient", choice.rate));
  refuse(number && !(std::isfinite(*number) && *number > 0),
         fmt::format("--rate {}: the rate must be a number above 0", choice.rate));
  const bool computes = choice.options.recompute != linear::Recompute::never || choice.options.rule.fixed ||
                        choice.options.rule.first_rate.has_value();
  refuse(number && computes, fmt::format("--rate {} is a number: nothing is computed, so leave out --recompute, "
                                         "--first-rate and --fixed",
                                         choice.rate));
  refuse(choice.solver == "accelerated" && choice.options.batch != 0,
         "the accelerated solver works on all rows; leave --batch out or take --solver sgd");
}

TrainingResult train(const DataChoice& data, const Prepared& prepared, const TrainingChoice& choice,
                     Communicator* communicator) {
  check(choice);
  if (communicator != nullptr) expect_same_training(*communicator, data, prepared, choice);
  return choice.single_precision ? train_as<float>(data, prepared, choice, communicator)
                                 : train_as<double>(data, prepared, choice, communicator);
}

}  // namespace lipschitzlr::run
