#pragma once
// One row of one of the paper's tables as data: what was trained on what, how, and which figures the paper prints. The
// rows are JSON files under experiments/recipes, one each, embedded in the library; a new row is a new file. Unknown,
// missing or senseless fields are errors that name the file and the field.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::experiment {

enum class Start { zero, normal };  // w0 = 0, or every entry drawn from N(0, 1)

struct DataChoice {
  std::string set;                   // a name of data/catalogue.hpp
  std::string test_set;              // another one to judge the model on; empty: none
  double test_fraction = 0;          // or this share of the rows, split off by the seed; 0: none
  std::vector<std::string> classes;  // the classes kept, class 0 first; empty: all, as the data set has them
  Index first_columns = 0;           // the features kept; 0: all
  Index first_rows = 0;              // the rows kept of those classes; 0: all
};

struct ModelChoice {
  linear::Family family = linear::Family::linear;
  data::Scaling scaling = data::Scaling::none;
  bool intercept = false;
};

// Either the iterations until the loss falls below the threshold are counted (Table 1), or the model is judged after a
// number of epochs (Table 2).
struct TrainingChoice {
  Start start = Start::zero;
  Index batch = 0;  // rows per step; 0: all
  std::optional<double> threshold;
  std::optional<std::int64_t> epochs;
};

// What the paper prints. baseline and computed are iterations, or accuracies in percent, with the rate 0.1 and 1/L.
struct PaperFigures {
  double rate = 0;
  double baseline = 0, computed = 0;
  Index rows = 0;  // trained on
};

struct Recipe {
  std::string table;  // "table1"
  int row = 0;        // its place in the paper's table, from 1
  std::string name;   // "boston"
  std::string title;
  DataChoice data;
  ModelChoice model;
  TrainingChoice training;
  double baseline_rate = 0;
  std::vector<linear::ConstantKind> protocols;  // as published, as coded
  PaperFigures paper;
  std::vector<std::string> caveats;  // sentences shown with the figures

  std::string id() const { return table + "/" + name; }
  bool counts_iterations() const { return training.threshold.has_value(); }
};

// file stands in error messages. Throws Error (data).
Recipe parse_recipe(std::string_view text, const std::string& file);

// The embedded recipes in the order of the paper.
const std::vector<Recipe>& recipes();

// Those of a table, or the named rows of it. Throws Error (usage) listing the names when there is no such row.
std::vector<Recipe> select_recipes(const std::string& table, const std::vector<std::string>& names);

}  // namespace lipschitzlr::experiment
