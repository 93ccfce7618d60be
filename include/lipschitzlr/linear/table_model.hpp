#pragma once
// What a model of a table knows beside its weights: the columns it was trained on, how they become features, their
// scaling, and the target with its classes. A linear model has all of it in its file, the network of a table beside its
// weights.

#include <string>
#include <vector>

#include "lipschitzlr/data/table/encoder.hpp"
#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

struct TableModel {
  Family family = Family::linear;  // what the scores mean: a number, the log-odds of the second class, one per class
  std::vector<std::string> feature_names;
  bool has_names = true;  // false: the training file had none, and feature_names are the numbers of columns
  std::string target_name;
  Index target_column = -1;         // where the target stood in the training file, from 0; -1: not in a column
  std::vector<std::string> labels;  // empty for regression; two for logistic, the second being class 1
  data::Scaler scaler;              // raw features -> the matrix the weights multiply
  data::Encoder encoder = {};       // from the columns of a file to features; not known: columns are features

  Index classes() const { return static_cast<Index>(labels.size()); }
};

// Of training rows, encoded.
TableModel table_model(Family family, const data::Table& training, data::Scaler scaler, data::Encoder encoder = {});

// A JSON object.
std::string table_to_json(const TableModel& table);
// name stands in error messages. Throws Error (data).
TableModel table_from_json(const std::string& text, const std::string& name);

}  // namespace lipschitzlr::linear
