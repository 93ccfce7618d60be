#pragma once
// One row of one of the paper's tables as data: what was trained on what, how, and which figures the paper prints.
// Tables 1 and 2 are on linear models; table3 (tab:exp:summary, 37 rows), comparison (eight rows of other methods) and
// text (what the text claims beside the tables) are on networks. The rows are JSON files under experiments/recipes, one
// each, embedded in the library; a new row is a new file. Unknown, missing or senseless fields are errors that name the
// file and the field.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::experiment {

enum class Start { zero, normal };  // w0 = 0, or every entry drawn from N(0, 1)

// Either the iterations until the loss falls below the threshold are counted (Table 1), or the model is judged after a
// number of epochs (Table 2).
struct LinearTraining {
  std::string data;                  // a name of data/catalogue
  std::string test_set;              // another one to judge the model on; empty: none
  double test_fraction = 0;          // or this share of the rows, split off by the seed; 0: none
  std::vector<std::string> classes;  // the classes kept, class 0 first; empty: all, as the data set has them
  Index first_columns = 0;           // the features kept; 0: all
  Index first_rows = 0;              // the rows kept of those classes; 0: all
  linear::Family family = linear::Family::linear;
  data::Scaling scaling = data::Scaling::none;
  bool intercept = false;
  bool intercept_in_constant = true;  // whether 1/L counts its column of ones
  bool clipped = false;               // Keras's cross-entropy, of probabilities within [1e-7, 1 - 1e-7]
  Start start = Start::zero;
  Index batch = 0;  // rows per step; 0: all
  std::optional<double> threshold;
  std::optional<std::int64_t> epochs;
  bool best_epoch = false;  // the accuracy is the best of the epochs, not the last
  double baseline_rate = 0;

  // What the paper prints. baseline and computed are iterations, or accuracies in percent, with the rate 0.1 and 1/L.
  struct Paper {
    double rate = 0;
    double baseline = 0, computed = 0;
    Index rows = 0;  // trained on
    // Of the first epochs with 1/L, means over the mini-batches: from the authors' notebook, not printed.
    std::vector<double> losses = {};
  } paper;

  bool counts_iterations() const { return threshold.has_value(); }
};

// What `train` is asked for, in its words.
struct NetworkTraining {
  std::string data;       // an image set of data/catalogue
  std::string network;    // "resnet20-v1"
  std::string optimizer;  // "adamo"
  std::string policy;     // baseline, fixed, adaptive
  std::int64_t epochs = 0;
  Index batch = 0;
  double decay = 0;                            // the column WD: coded, the rate's decay; published, lambda of L2
  std::optional<double> first_rate;            // of epoch 1
  std::optional<double> rate;                  // of the policy baseline; none: the optimizer's own
  bool drop_last = false;                      // 390 steps an epoch, not 391: no smaller batch at its end
  std::map<std::string, std::string> options;  // others of `train`, by their names in a record
  // As the authors ran it, where that is not what the table says:
  std::optional<double> coded_constant;  // G, taken as given
  std::optional<double> coded_decay;     // of the rate
  std::optional<double> coded_l2;        // lambda of the constant; by default the decay

  double paper_accuracy = 0;               // in percent, as the paper prints it
  std::string paper_network;               // what the figure was measured with, when that is another network
  std::string curve;                       // of the authors, see experiment/curve.hpp; empty: there is none
  std::vector<std::string> compared_with;  // ids of rows of table3 that are in the same table of the paper

  double decay_under(const std::string& protocol) const {
    return protocol == "coded" ? coded_decay.value_or(decay) : decay;
  }
};

struct Recipe {
  std::string table;  // "table1"
  int row = 0;        // its place in the paper's table, from 1
  std::string name;   // "boston", "cifar10-resnet20-adamo-adaptive-1e-3"
  std::string title;
  std::vector<std::string> protocols;    // published, coded
  std::vector<std::string> artefacts;    // sentences: why the figure is one
  std::vector<std::string> caveats;      // sentences shown with the figures
  std::optional<LinearTraining> linear;  // one of the two is there
  std::optional<NetworkTraining> network;

  std::string id() const { return table + "/" + name; }
  bool has(const std::string& protocol) const;
  const std::string& data() const { return linear ? linear->data : network->data; }
};

// file is for error messages. Throws Error (data).
Recipe parse_recipe(std::string_view text, const std::string& file);

// The embedded recipes in the order of the paper.
const std::vector<Recipe>& recipes();

// By id, "table3/mnist-cnn-sgd-adaptive"; nullptr when there is none.
const Recipe* find_recipe(const std::string& id);

// Those of a table, or the named rows of it. Throws Error (usage) listing the names when there is no such row.
std::vector<Recipe> select_recipes(const std::string& table, const std::vector<std::string>& names);

// Rows of any table by name: "table1/boston", or "mnist-cnn-sgd-adaptive" when only one table has it. Throws Error
// (usage) when there is no such row, or several tables have it.
std::vector<Recipe> select_rows(const std::vector<std::string>& names);

// The data sets that a recipe needs and that are not available here.
std::vector<std::string> absent_sets(const Recipe& recipe);

// The options of `train` that run a recipe under a protocol, without --epochs, --seed and -o.
std::vector<std::string> train_options(const Recipe& recipe, const std::string& protocol);

}  // namespace lipschitzlr::experiment
