#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/experiment/curve.hpp"
#include "lipschitzlr/experiment/recipe.hpp"

namespace lipschitzlr::experiment {
namespace {

using Json = nlohmann::json;

Json good_network() {
  return Json::parse(R"({
    "table": "table3", "row": 2, "name": "mnist-cnn-adamo-adaptive", "title": "MNIST, CNN, Momentum, adaptive",
    "training": {"data": "mnist", "network": "mnist-cnn", "optimizer": "adamo", "policy": "adaptive", "epochs": 20,
                 "batch": 256, "decay": 0.001, "first_rate": 0.1},
    "coded": {"constant": 6.5}, "protocols": ["published", "coded"],
    "paper": {"accuracy": 99.57}, "curve": "MNIST/Momentum/Adaptive", "artefacts": ["One."], "caveats": ["Two."]})");
}

std::string network_complaint(const Json& recipe) {
  try {
    parse_recipe(recipe.dump(), "table3/x.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "";
}

Json changed_network(const std::string& field, const Json& value) {
  Json recipe = good_network();
  recipe[Json::json_pointer(field)] = value;
  return recipe;
}

TEST(NetworkRecipe, ReadsEveryField) {
  const Recipe recipe = parse_recipe(good_network().dump(), "x.json");
  EXPECT_EQ(recipe.id(), "table3/mnist-cnn-adamo-adaptive");
  EXPECT_EQ(recipe.row, 2);
  EXPECT_EQ(recipe.network->epochs, 20);
  EXPECT_EQ(recipe.network->batch, 256);
  EXPECT_EQ(recipe.network->first_rate, 0.1);
  EXPECT_FALSE(recipe.network->rate);
  EXPECT_EQ(recipe.network->coded_constant, 6.5);
  EXPECT_EQ(recipe.network->paper_accuracy, 99.57);
  EXPECT_EQ(recipe.network->curve, "MNIST/Momentum/Adaptive");
  EXPECT_EQ(recipe.artefacts, std::vector<std::string>{"One."});
  EXPECT_EQ(recipe.caveats, std::vector<std::string>{"Two."});
}

TEST(NetworkRecipe, NamesTheFileAndTheFieldThatIsWrong) {
  Json missing = good_network(), absent = good_network();
  missing["training"].erase("network");
  absent.erase("paper");
  Json baseline = good_network();
  baseline["training"]["policy"] = "baseline";
  const std::vector<std::pair<Json, std::string>> cases = {
      {missing, "training.network is missing"},
      {absent, "paper is missing"},
      {changed_network("/colour", "red"), "colour is not a field of a recipe"},
      {changed_network("/training/momentum", 0.9), "training.momentum is not a field of a recipe"},
      {changed_network("/coded/rate", 0.9), "coded.rate is not a field of a recipe"},
      {changed_network("/paper/loss", 0.9), "paper.loss is not a field of a recipe"},
      {changed_network("/table", "table4"), "table must be table1, table2, table3, comparison or text"},
      {changed_network("/training/data", "iris"), "training.data names no known set of images: iris"},
      {changed_network("/training/policy", "greedy"), "training.policy must be baseline, fixed or adaptive"},
      {changed_network("/training/options", {{"k3", "1"}}), "training.options.k3 is not a field of a recipe"},
      {changed_network("/training/options", {{"k1", "-1"}}),
       "training.options.k1 makes no sense: --k1 -1: expected a number above 0"},
      {changed_network("/coded/decay", -1), "coded.decay must be 0 or more"},
      {changed_network("/coded/l2", -1), "coded.l2 must be 0 or more"},
      {changed_network("/training/epochs", 0), "training.epochs must be a whole number, 1 or more"},
      {changed_network("/training/decay", -1), "training.decay must be 0 or more"},
      {changed_network("/training/rate", 0.1), "training.rate goes with the policy baseline only"},
      {baseline, "training.first_rate does not go with the policy baseline"},
      {changed_network("/protocols", Json::array()), "protocols must not be empty"},
      {changed_network("/protocols", {"coded", "coded"}), "protocols may hold published and coded, each once"},
      {changed_network("/protocols", {"published"}), "coded needs the protocol coded"},
      {changed_network("/paper/accuracy", 101), "paper.accuracy is a share in percent and can't be above 100"},
      {changed_network("/curve", "MNIST/Fast"), "curve names no curve of the authors: MNIST/Fast"},
  };
  for (const auto& [recipe, expected] : cases) EXPECT_EQ(network_complaint(recipe), "table3/x.json: " + expected);
}

TEST(NetworkRecipe, WdIsRateDecayAsCodedAndL2AsPublished) {
  const Recipe recipe = parse_recipe(good_network().dump(), "x.json");
  EXPECT_EQ(train_options(recipe, "coded"),
            (std::vector<std::string>{"--data", "mnist", "--model", "mnist-cnn", "--optimizer", "adamo", "--policy",
                                      "adaptive", "--protocol", "coded", "--batch", "256", "--decay", "0.001",
                                      "--first-rate", "0.1", "--constant", "6.5"}));
  EXPECT_EQ(train_options(recipe, "published"),
            (std::vector<std::string>{"--data", "mnist", "--model", "mnist-cnn", "--optimizer", "adamo", "--policy",
                                      "adaptive", "--protocol", "published", "--batch", "256", "--l2", "0.001",
                                      "--first-rate", "0.1"}));
}

TEST(NetworkRecipe, WhatTheAuthorsRanTakesThePlaceOfWhatTheTableSays) {
  Json json = good_network();
  json["coded"] = {{"decay", 0}, {"l2", 1e-4}};
  json["training"]["drop_last"] = true;
  json["training"]["options"] = {{"second_moment", "coded-full-square"}, {"k2", "0.000001"}};
  const Recipe recipe = parse_recipe(json.dump(), "x.json");
  EXPECT_EQ(
      train_options(recipe, "coded"),
      (std::vector<std::string>{"--data",   "mnist",           "--model",          "mnist-cnn", "--optimizer", "adamo",
                                "--policy", "adaptive",        "--protocol",       "coded",     "--batch",     "256",
                                "--l2",     "0.0001",          "--first-rate",     "0.1",       "--drop-last", "--k2",
                                "1e-06",    "--second-moment", "coded-full-square"}));
  const std::vector<std::string> published = train_options(recipe, "published");
  EXPECT_EQ(published[12], "--l2");
  EXPECT_EQ(published[13], "0.001");
  EXPECT_EQ(std::count(published.begin(), published.end(), "--drop-last"), 0);
}

// The 37 accuracies of tab:exp:summary in the paper's order, typed off its LaTeX, and the eight of the comparisons.
TEST(NetworkRecipe, TheEmbeddedRecipesAreTheRowsOfThePaper) {
  const std::vector<double> summary = {99.5,  99.57, 99.43, 60.33, 87.02, 89.37, 58.29, 84.71, 89.27, 84.92,
                                       86.66, 84.67, 70.57, 84.84, 91.34, 85.50, 92.36, 91.36, 90.14, 91.38,
                                       88.23, 54.29, 26.96, 75.99, 27.51, 75.39, 70.68, 70.78, 71.96, 50.53,
                                       68.18, 52.28, 69.18, 65.41, 67.30, 66.05, 40.14};
  std::map<std::string, std::vector<double>> accuracies;
  std::set<std::string> ids;
  for (const Recipe& recipe : recipes()) {
    if (!recipe.network) continue;
    accuracies[recipe.table].push_back(recipe.network->paper_accuracy);
    EXPECT_EQ(recipe.row, static_cast<int>(accuracies[recipe.table].size())) << recipe.id();
    ids.insert(recipe.id());
  }
  ASSERT_EQ(summary.size(), 37u);
  EXPECT_EQ(accuracies["table3"], summary);
  EXPECT_EQ(accuracies["comparison"], (std::vector<double>{91.25, 90, 89, 98.17, 92, 90, 88.75, 89}));
  EXPECT_EQ(accuracies["text"], (std::vector<double>{83.64, 72.95, 59.08}));
  EXPECT_EQ(ids.size(), 48u);
}

// The number of rows per data set and network, counted in the paper.
TEST(NetworkRecipe, DataSetsAndNetworksHaveAsManyRowsAsInThePaper) {
  std::map<std::string, int> counts;
  for (const Recipe& recipe : recipes()) {
    if (!recipe.network) continue;
    if (recipe.table == "table3") ++counts[recipe.network->data + " " + recipe.network->network];
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"mnist mnist-cnn", 3},
                                                {"cifar10 resnet20-v1", 10},
                                                {"cifar10 densenet-40-12", 8},
                                                {"cifar100 resnet56-v2", 1},
                                                {"cifar100 resnet164-v2", 7},
                                                {"cifar100 densenet-40-12", 8}}));
}

// A curve belongs to a row when its best or its last epoch is what the paper prints.
TEST(NetworkRecipe, TheCurveOfARowHasItsFigure) {
  int curves = 0;
  for (const Recipe& recipe : recipes()) {
    if (!recipe.network) continue;
    if (recipe.network->curve.empty()) continue;
    ++curves;
    const run::Record& curve = *authors_curve(recipe.network->curve);
    const std::vector<double>& accuracy = curve.column("val_accuracy");
    const double best = 100 * *std::max_element(accuracy.begin(), accuracy.end());
    const double last = 100 * accuracy.back();
    EXPECT_TRUE(std::abs(best - recipe.network->paper_accuracy) < 0.006 ||
                std::abs(last - recipe.network->paper_accuracy) < 0.006)
        << recipe.id();
    EXPECT_EQ(static_cast<std::int64_t>(accuracy.size()), recipe.network->epochs) << recipe.id();
    EXPECT_EQ(curve.column("loss").size(), accuracy.size());
    if (recipe.network->first_rate) {
      EXPECT_EQ(curve.column("rate").at(0), recipe.network->first_rate) << recipe.id();
    }
  }
  EXPECT_EQ(curves, 36);
}

TEST(NetworkRecipe, ComparisonsNameRowsThatExist) {
  for (const Recipe& recipe : recipes()) {
    if (!recipe.network) continue;
    EXPECT_EQ(recipe.network->compared_with.empty(), recipe.table != "comparison") << recipe.id();
    for (const std::string& id : recipe.network->compared_with) EXPECT_NE(find_recipe(id), nullptr) << id;
  }
}

// Those are the names of the files, so that a row is found by its name.
TEST(NetworkRecipe, NamesSayWhatIsTrained) {
  for (const Recipe& recipe : recipes()) {
    if (!recipe.network) continue;
    const NetworkTraining& training = *recipe.network;
    EXPECT_TRUE(recipe.name.starts_with(training.data + "-")) << recipe.id();
    EXPECT_NE(recipe.name.find("-" + training.optimizer), std::string::npos) << recipe.id();
    if (recipe.table != "table3") continue;
    EXPECT_NE(recipe.name.find("-" + training.policy), std::string::npos) << recipe.id();
  }
}

}  // namespace
}  // namespace lipschitzlr::experiment
