#pragma once
// A trained linear model: what it predicts, and its file. The file is JSON with everything a prediction needs (names,
// labels, scaling, weights; since version 2 how columns of a file become features) and how the model was trained. A
// damaged file, or one of a newer version, is refused with a reason.

#include <string>
#include <vector>

#include "lipschitzlr/linear/inference.hpp"
#include "lipschitzlr/linear/table_model.hpp"

namespace lipschitzlr::linear {

struct Model : TableModel {
  Weights<double> weights;   // one row per feature, then the intercept's when scaler.intercept
  std::string training;      // JSON object: how it was trained and what came out; "{}" when unknown
  std::string resume;        // JSON object from which training continues; empty when there is nothing to resume
  Inference inference = {};  // standard errors; older files have none

  // Of raw rows, unscaled, with the columns in the order of feature_names: a number each, or the index of a label.
  // Throws Error (data) when the number of columns differs.
  Vector<double> predict(const data::Features& rows) const;
  // The probability of each class, rows x classes. Throws Error (usage) for a model of numbers.
  DenseMatrix<double> probabilities(const data::Features& rows) const;
};

std::string to_json(const Model& model);
// name stands in error messages. Throws Error (data).
Model model_from_json(const std::string& text, const std::string& name);

void save_model(const Model& model, const std::string& path);
Model load_model(const std::string& path);

// Scores x_i W of raw rows (rows x outputs). Throws Error (data) when the number of features does not fit.
DenseMatrix<double> scores(const Model& model, const data::Features& features, ThreadPool& pool);

}  // namespace lipschitzlr::linear
