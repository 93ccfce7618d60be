#pragma once
// One row of the paper's tables on networks as data: the big table (table3, tab:exp:summary, 37 rows) and the eight
// comparisons with other methods (comparison). The rows are JSON files under experiments/recipes, one each, embedded in
// the library; a new row is a new file. Unknown, missing or senseless fields are errors that name the file and the
// field.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::experiment {

// What `train` is asked for, in its words.
struct NetworkTraining {
  std::string data;       // an image set of data/catalogue.hpp
  std::string network;    // "resnet20-v1"
  std::string optimizer;  // "adamo"
  std::string policy;     // baseline, fixed, adaptive
  std::int64_t epochs = 0;
  Index batch = 0;
  double decay = 0;                  // the column WD: coded, the rate's decay; published, lambda of L2
  std::optional<double> first_rate;  // of epoch 1
  std::optional<double> rate;        // of the policy baseline; none: the optimizer's own
};

struct NetworkRecipe {
  std::string table;  // "table3", "comparison"
  int row = 0;        // its place in the paper, from 1
  std::string name;   // "cifar10-resnet20-adamo-adaptive-1e-3"
  std::string title;
  NetworkTraining training;
  std::optional<double> coded_constant;    // G as the authors had it, taken as given under the protocol coded
  std::vector<std::string> protocols;      // published, coded
  double accuracy = 0;                     // in percent, as the paper prints it
  std::string paper_network;               // what the figure was measured with, when that is another network
  std::string curve;                       // of the authors, see experiment/curve.hpp; empty: there is none
  std::vector<std::string> compared_with;  // ids of rows of table3 that stand in the same table of the paper
  std::vector<std::string> artefacts;      // sentences: why the figure is one
  std::vector<std::string> caveats;        // sentences shown with the figures

  std::string id() const { return table + "/" + name; }
  bool has(const std::string& protocol) const;
};

// file stands in error messages. Throws Error (data).
NetworkRecipe parse_network_recipe(std::string_view text, const std::string& file);

// The embedded recipes in the order of the paper, table3 before comparison.
const std::vector<NetworkRecipe>& network_recipes();

// By id, "table3/mnist-cnn-sgd-adaptive"; nullptr when there is none.
const NetworkRecipe* find_network_recipe(const std::string& id);

// Those of a table, or the named rows of it. Throws Error (usage) listing the names when there is no such row.
std::vector<NetworkRecipe> select_network_recipes(const std::string& table, const std::vector<std::string>& names);

// The options of `train` that run a recipe under a protocol, without --epochs, --seed and -o.
std::vector<std::string> train_options(const NetworkRecipe& recipe, const std::string& protocol);

}  // namespace lipschitzlr::experiment
