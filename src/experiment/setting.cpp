#include "lipschitzlr/experiment/setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/bound/loss.hpp"
#include "lipschitzlr/bound/norms.hpp"
#include "lipschitzlr/bound/weights.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/data/table/split.hpp"

namespace lipschitzlr::experiment {
namespace {

using linear::Family;

const DenseMatrix<double>& dense(const data::Table& table, const std::string& set) {
  if (const auto* matrix = std::get_if<DenseMatrix<double>>(&table.features)) return *matrix;
  throw Error(Fault::data, fmt::format("the data set {} is sparse; recipes are made for dense ones", set));
}

void keep_classes(data::Table& table, const LinearTraining& choice) {
  std::vector<double> renumbered(table.labels.size(), -1);
  for (std::size_t wanted = 0; wanted < choice.classes.size(); ++wanted) {
    const auto found = std::find(table.labels.begin(), table.labels.end(), choice.classes[wanted]);
    if (found == table.labels.end()) {
      throw Error(Fault::data, fmt::format("the data set {} has no class \"{}\"", choice.data, choice.classes[wanted]));
    }
    renumbered[static_cast<std::size_t>(found - table.labels.begin())] = static_cast<double>(wanted);
  }
  std::vector<Index> kept;
  for (Index i = 0; i < table.rows(); ++i) {
    table.target[i] = renumbered[static_cast<std::size_t>(table.target[i])];
    if (table.target[i] >= 0) kept.push_back(i);
  }
  table.labels = choice.classes;
  if (static_cast<Index>(kept.size()) < table.rows()) table = data::take_rows(table, kept);
}

void keep_columns(data::Table& table, const LinearTraining& choice) {
  if (table.columns() < choice.first_columns) {
    throw Error(Fault::data, fmt::format("the data set {} has only {} columns", choice.data, table.columns()));
  }
  table.features = DenseMatrix<double>(dense(table, choice.data).leftCols(choice.first_columns));
  table.feature_names.resize(static_cast<std::size_t>(choice.first_columns));
}

data::Table load_chosen(const std::string& set, const LinearTraining& choice) {
  data::Table table = data::catalogue::load(set);
  if (choice.first_columns > 0) keep_columns(table, choice);
  if (!choice.classes.empty()) keep_classes(table, choice);
  if (choice.first_rows > 0 && choice.first_rows < table.rows()) {
    std::vector<Index> kept(static_cast<std::size_t>(choice.first_rows));
    std::iota(kept.begin(), kept.end(), Index{0});
    table = data::take_rows(table, kept);
  }
  return table;
}

Index class_count(const Recipe& recipe, const data::Table& table) {
  const auto labels = static_cast<Index>(table.labels.size());
  if (recipe.linear->family == Family::logistic && labels != 2) {
    throw Error(Fault::data, fmt::format("{} is a logistic regression, but its data have {} classes; choose two",
                                         recipe.id(), labels));
  }
  return recipe.linear->family == Family::softmax ? labels : 1;
}

}  // namespace

RowData load_data(const Recipe& recipe) {
  const LinearTraining& training = *recipe.linear;
  RowData data{load_chosen(training.data, training), {}};
  if (!training.test_set.empty()) data.test_rows = load_chosen(training.test_set, training);
  return data;
}

Setting::Setting(const Recipe& recipe, const RowData& data, std::uint64_t seed, ThreadPool& pool) : pool_(pool) {
  const LinearTraining& choice = *recipe.linear;
  classes_ = class_count(recipe, data.rows);
  data::Table taken, rest;
  const data::Table* training = &data.rows;
  const data::Table* test = data.test_rows ? &*data.test_rows : nullptr;
  if (choice.test_fraction > 0) {
    Random random(seed);
    const data::Split split = data::split_rows(data.rows, choice.test_fraction, random);
    taken = data::take_rows(data.rows, split.train);
    rest = data::take_rows(data.rows, split.test);
    training = &taken;
    test = &rest;
  }
  const DenseMatrix<double>& raw = dense(*training, choice.data);
  const data::Scaler scaler =
      data::Scaler::learn(choice.scaling, training->features, choice.intercept, training->feature_names);
  linear::ProblemSetup setup;
  setup.family = choice.family;
  setup.classes = classes_;
  setup.clipped = choice.clipped;
  intercept_in_constant_ = choice.intercept_in_constant;
  if (setup.family == Family::linear) setup.weight_bound = bound::weight_bound_estimate(raw);
  problem_ = std::make_unique<linear::Problem<double>>(scaler.design<double>(raw), training->target, setup, pool);
  if (test != nullptr) held_out_ = Rows{scaler.design<double>(dense(*test, choice.data)), test->target};
}

linear::Weights<double> draw_start(const Recipe& recipe, const linear::Problem<double>& problem, std::uint64_t seed) {
  linear::Weights<double> start = problem.zero_weights();
  if (recipe.linear->start == Start::zero) return start;
  Random random(seed);
  for (double& weight : start.reshaped<Eigen::RowMajor>()) weight = random.normal();
  return start;
}

bound::Constant Setting::constant(linear::ConstantKind kind) const {
  const bool of_whole_norm = kind == linear::ConstantKind::published || kind == linear::ConstantKind::coded;
  if (intercept_in_constant_ || !of_whole_norm) return problem_->constant(kind);
  const auto rows = static_cast<double>(problem_->rows());
  const double norm = bound::frobenius_norm(std::get<DenseMatrix<double>>(problem_->matrix()));
  // The ones of the intercept are m of the squares. The sum of row norms occurs in the certified constant only.
  return bound::softmax_regression(kind, std::sqrt(norm * norm - rows), 0, rows, classes_);
}

linear::Metrics Setting::judge(const linear::Weights<double>& weights) const {
  const auto& features = held_out_ ? held_out_->features : std::get<DenseMatrix<double>>(problem_->matrix());
  const Vector<double>& targets = held_out_ ? held_out_->targets : problem_->targets();
  const Family family = problem_->setup().family;
  return linear::measure(family, linear::scores(features, weights, pool_), targets,
                         family == Family::softmax ? classes_ : 2);
}

double Setting::naive_loss(const linear::Weights<double>& weights) const {
  const auto& features = std::get<DenseMatrix<double>>(problem_->matrix());
  return experiment::naive_loss(problem_->setup().family, linear::scores(features, weights, pool_),
                                problem_->targets());
}

double naive_loss(Family family, const DenseMatrix<double>& scores, const Vector<double>& targets) {
  double sum = 0;
  for (Index i = 0; i < scores.rows(); ++i) {
    if (family == Family::logistic) {
      const double probability = 1 / (1 + std::exp(-scores(i, 0)));
      sum -= targets[i] * std::log(probability) + (1 - targets[i]) * std::log(1 - probability);
      continue;
    }
    const auto exponentials = scores.row(i).array().exp();
    const double total = exponentials.sum();
    for (Index j = 0; j < scores.cols(); ++j) {
      const double truth = static_cast<Index>(targets[i]) == j ? 1 : 0;
      sum -= truth * std::log(std::exp(scores(i, j)) / total);
    }
  }
  return sum / static_cast<double>(scores.rows());
}

}  // namespace lipschitzlr::experiment
