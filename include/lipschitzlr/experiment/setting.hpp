#pragma once
// What a recipe of a linear model says, made ready to train: rows and columns chosen, split, scaled, and a start drawn.
// One seed decides the split and the start, so that every rate of a row runs from the same weights on the same rows.

#include <cstdint>
#include <memory>
#include <optional>

#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/experiment/recipe.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::experiment {

// The data of a recipe, read once and used for every seed.
struct RowData {
  data::Table rows;                      // the classes, columns and rows chosen
  std::optional<data::Table> test_rows;  // of the test set, when the recipe names one
};

// Throws Error (data) when a set is not available or lacks the classes or columns.
RowData load_data(const Recipe& recipe);

class Setting {
 public:
  // The pool must outlive the setting.
  Setting(const Recipe& recipe, const RowData& data, std::uint64_t seed, ThreadPool& pool);

  const linear::Problem<double>& problem() const { return *problem_; }
  // By the recipe: with the column of the intercept, or without.
  bound::Constant constant(linear::ConstantKind kind) const;
  bool judges_held_out_rows() const { return held_out_.has_value(); }

  // Loss and accuracy on the rows held out, or on those trained on when there are none.
  linear::Metrics judge(const linear::Weights<double>& weights) const;

  // The loss of the training rows as a plain script writes it, mean of -y log(p) with p from exp(z): it is not a number
  // as soon as an exponential overflows or a probability underflows. Classification only.
  double naive_loss(const linear::Weights<double>& weights) const;

 private:
  struct Rows {
    DenseMatrix<double> features;
    Vector<double> targets;
  };
  ThreadPool& pool_;
  Index classes_ = 1;
  bool intercept_in_constant_ = true;
  std::unique_ptr<linear::Problem<double>> problem_;
  std::optional<Rows> held_out_;
};

// Where the training begins, by the recipe and the seed.
linear::Weights<double> draw_start(const Recipe& recipe, const linear::Problem<double>& problem, std::uint64_t seed);

// The mean of -y log(p) written without care for the ends of the number range; scores as in linear::measure.
double naive_loss(linear::Family family, const DenseMatrix<double>& scores, const Vector<double>& targets);

}  // namespace lipschitzlr::experiment
