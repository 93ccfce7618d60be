#include "lipschitzlr/experiment/recipe.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::experiment {
namespace {

using Json = nlohmann::json;

Json good() {
  return Json::parse(R"({
    "table": "table1", "row": 7, "name": "iris", "title": "Iris",
    "data": {"set": "iris", "test_fraction": 0.3},
    "model": {"family": "softmax", "scaling": "none", "intercept": false},
    "training": {"start": "normal", "threshold": 0.2},
    "baseline_rate": 0.1, "protocols": ["published", "coded"],
    "paper": {"rate": 1.902, "baseline": 413, "computed": 49, "rows": 105},
    "caveats": ["One."]})");
}

// The sentence of the error, or "" when the recipe is accepted.
std::string complaint(const std::string& text) {
  try {
    parse_recipe(text, "table1/iris.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "";
}

// The recipe with one field, given as a JSON pointer, set to another value.
std::string changed(const std::string& field, const Json& value) {
  Json recipe = good();
  recipe[Json::json_pointer(field)] = value;
  return recipe.dump();
}

std::string without(const std::string& object, const std::string& field) {
  Json recipe = good();
  (object.empty() ? recipe : recipe[object]).erase(field);
  return recipe.dump();
}

TEST(Recipe, ReadsEveryField) {
  const Recipe recipe = parse_recipe(good().dump(), "iris.json");
  EXPECT_EQ(recipe.id(), "table1/iris");
  EXPECT_EQ(recipe.row, 7);
  EXPECT_EQ(recipe.linear->test_fraction, 0.3);
  EXPECT_EQ(recipe.linear->family, linear::Family::softmax);
  EXPECT_EQ(recipe.linear->start, Start::normal);
  EXPECT_TRUE(recipe.linear->counts_iterations());
  EXPECT_EQ(*recipe.linear->threshold, 0.2);
  EXPECT_EQ(recipe.protocols.size(), 2u);
  EXPECT_EQ(recipe.linear->paper.baseline, 413);
  EXPECT_EQ(recipe.caveats, std::vector<std::string>{"One."});
}

TEST(Recipe, NamesTheFileAndTheFieldThatIsMissing) {
  EXPECT_EQ(complaint(without("", "title")), "table1/iris.json: title is missing");
  EXPECT_EQ(complaint(without("data", "set")), "table1/iris.json: data.set is missing");
  EXPECT_EQ(complaint(without("paper", "rows")), "table1/iris.json: paper.rows is missing");
}

TEST(Recipe, RefusesFieldsItDoesNotKnow) {
  EXPECT_EQ(complaint(changed("/colour", "red")), "table1/iris.json: colour is not a field of a recipe");
  EXPECT_EQ(complaint(changed("/training/momentum", 0.9)),
            "table1/iris.json: training.momentum is not a field of a recipe");
}

TEST(Recipe, RefusesValuesThatMakeNoSense) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {changed("/row", 0), "row must be a whole number, 1 or more"},
      {changed("/row", 1.5), "row must be a whole number, 1 or more"},
      {changed("/title", ""), "title must be a text, not empty"},
      {changed("/data", 3), "data must be an object"},
      {changed("/data/set", "irises"), "data.set names no known data set: irises"},
      {changed("/data/test_fraction", 1), "data.test_fraction must be below 1"},
      {changed("/data/test_set", "wine"), "data.test_fraction and test_set exclude each other"},
      {changed("/data/classes", {"a", "a"}), "data.classes must be two or more different classes"},
      {changed("/data/classes", "a"), "data.classes must be a list of texts, none empty"},
      {changed("/model/family", "cubic"), "model.family makes no sense"},
      {changed("/model/family", "linear"), "model.family does not fit the data set iris"},
      {changed("/model/scaling", "log"), "model.scaling makes no sense"},
      {changed("/model/intercept", 1), "model.intercept must be true or false"},
      {changed("/model/intercept_in_constant", false),
       "model.intercept_in_constant goes with the intercept of a softmax regression"},
      {changed("/model/loss", "hinge"), "model.loss must be clipped, or left out"},
      {changed("/paper/losses", {"a"}), "paper.losses must be a list of numbers"},
      {changed("/paper/losses", {1.5}), "paper.losses are those of mini-batches"},
      {changed("/training/start", "one"), "training.start must be zero or normal"},
      {changed("/training/threshold", -1), "training.threshold must be above 0"},
      {changed("/training/epochs", 5), "training.threshold or training.epochs must be there, and not both"},
      {changed("/training/batch", 5), "training.batch does not go with a threshold"},
      {without("training", "threshold"), "training.threshold or training.epochs must be there, and not both"},
      {changed("/baseline_rate", "0.1"), "baseline_rate must be a number"},
      {changed("/protocols", Json::array()), "protocols must not be empty"},
      {changed("/protocols", {"gradient"}), "protocols may hold published and coded, each once"},
      {changed("/protocols", {"coded", "coded"}), "protocols may hold published and coded, each once"},
      {changed("/paper/computed", 2.5), "paper.computed must be a whole number, 1 or more"},
      {changed("/caveats", {1}), "caveats must be a list of texts, none empty"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_TRUE(complaint(text).starts_with("table1/iris.json: " + expected)) << complaint(text);
  }
}

TEST(Recipe, RefusesTextThatIsNotJson) {
  EXPECT_EQ(complaint("{\"table\": "), "table1/iris.json: is not valid JSON (byte 11)");
  EXPECT_EQ(complaint("[]"), "table1/iris.json: the recipe must be an object");
}

TEST(Recipe, AnAccuracyIsNoMoreThanAHundredPercent) {
  Json recipe = good();
  recipe["training"] = {{"start", "zero"}, {"epochs", 5}};
  EXPECT_EQ(complaint(recipe.dump()), "table1/iris.json: paper.baseline is a share in percent and can't be above 100");
}

// The rows the paper has (tables tab:exp:1 and tab:exp:2), in its order; reading them checks every file.
TEST(Recipe, TheEmbeddedRecipesAreTheRowsOfThePaper) {
  std::vector<std::string> ids;
  for (const Recipe& recipe : recipes()) {
    if (recipe.linear) ids.push_back(recipe.id());
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"table1/boston", "table1/california", "table1/energy", "table1/news",
                                           "table1/breast-cancer", "table1/covertype", "table1/iris", "table1/digits",
                                           "table2/iris", "table2/digits", "table2/mnist", "table2/covertype",
                                           "table2/breast-cancer"}));
}

TEST(Recipe, RowsCountUpInEveryTable) {
  std::string table;
  int row = 0;
  for (const Recipe& recipe : recipes()) {
    row = recipe.table == table ? row + 1 : 1;
    table = recipe.table;
    EXPECT_EQ(recipe.row, row) << recipe.id();
    EXPECT_EQ(recipe.linear && recipe.linear->counts_iterations(), table == "table1") << recipe.id();
  }
}

TEST(Recipe, RowsAreChosenByName) {
  const std::vector<Recipe> chosen = select_recipes("table1", {"digits", "boston"});
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].name, "boston");
  EXPECT_EQ(select_recipes("table2", {}).size(), 5u);
  EXPECT_THROW(select_recipes("table2", {"boston"}), Error);
  EXPECT_THROW(select_recipes("table9", {}), Error);
}

}  // namespace
}  // namespace lipschitzlr::experiment
