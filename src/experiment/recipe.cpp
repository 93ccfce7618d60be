#include "lipschitzlr/experiment/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "embedded/recipes_table1.hpp"
#include "embedded/recipes_table2.hpp"
#include "experiment/choose_rows.hpp"
#include "experiment/fields.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::experiment {
namespace {

using data::catalogue::Task;

std::string known_set(Fields& fields, const std::string& name) {
  const std::string set = fields.text(name);
  if (data::catalogue::find(set) == nullptr) fields.refuse(name, fmt::format("names no known data set: {}", set));
  return set;
}

DataChoice read_data(Fields fields) {
  DataChoice choice;
  choice.set = known_set(fields, "set");
  if (fields.has("test_set")) choice.test_set = known_set(fields, "test_set");
  if (fields.has("test_fraction")) {
    choice.test_fraction = fields.positive("test_fraction");
    if (choice.test_fraction >= 1) fields.refuse("test_fraction", "must be below 1");
    if (!choice.test_set.empty()) fields.refuse("test_fraction", "and test_set exclude each other");
  }
  if (fields.has("classes")) {
    choice.classes = fields.texts("classes");
    std::vector<std::string> sorted = choice.classes;
    std::sort(sorted.begin(), sorted.end());
    const bool repeats = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    if (repeats || sorted.size() < 2) fields.refuse("classes", "must be two or more different classes");
  }
  if (fields.has("first_columns")) choice.first_columns = fields.count("first_columns");
  if (fields.has("first_rows")) choice.first_rows = fields.count("first_rows");
  fields.finish();
  return choice;
}

// The library's own readers of names know nothing of files: their sentence becomes the complaint.
template <class Read>
auto read_name(Fields& fields, const std::string& name, Read&& read) {
  try {
    return read(fields.text(name));
  } catch (const Error& error) {
    if (error.fault() == Fault::data) throw;
    fields.refuse(name, fmt::format("makes no sense: {}", error.what()));
  }
}

ModelChoice read_model(Fields fields) {
  ModelChoice choice;
  choice.family = read_name(fields, "family", linear::family_from);
  choice.scaling = read_name(fields, "scaling", data::scaling_from);
  choice.intercept = fields.flag("intercept");
  fields.finish();
  return choice;
}

TrainingChoice read_training(Fields fields) {
  TrainingChoice choice;
  const std::string start = fields.text("start");
  if (start != "zero" && start != "normal") fields.refuse("start", "must be zero or normal");
  choice.start = start == "zero" ? Start::zero : Start::normal;
  if (fields.has("batch")) choice.batch = fields.count("batch");
  if (fields.has("threshold") == fields.has("epochs")) {
    fields.refuse("threshold", "or training.epochs must be there, and not both");
  }
  if (fields.has("threshold")) {
    choice.threshold = fields.positive("threshold");
    if (choice.batch != 0) fields.refuse("batch", "does not go with a threshold: iterations are counted over all rows");
  } else {
    choice.epochs = fields.count("epochs");
  }
  fields.finish();
  return choice;
}

PaperFigures read_paper(Fields fields, bool percent) {
  PaperFigures figures;
  figures.rate = fields.positive("rate");
  for (const auto& [name, figure] : {std::pair{"baseline", &figures.baseline}, {"computed", &figures.computed}}) {
    *figure = percent ? fields.percent(name) : static_cast<double>(fields.count(name));
  }
  figures.rows = fields.count("rows");
  fields.finish();
  return figures;
}

std::vector<linear::ConstantKind> read_protocols(Fields& fields) {
  std::vector<linear::ConstantKind> protocols;
  for (const std::string& name : fields.texts("protocols")) {
    const auto kind = bound::constant_kind_from(name);
    const bool fits = kind == linear::ConstantKind::published || kind == linear::ConstantKind::coded;
    if (!fits || std::find(protocols.begin(), protocols.end(), *kind) != protocols.end()) {
      fields.refuse("protocols", "may hold published and coded, each once");
    }
    protocols.push_back(*kind);
  }
  if (protocols.empty()) fields.refuse("protocols", "must not be empty");
  return protocols;
}

void check_task(const Recipe& recipe, const Fields& fields) {
  const bool classified = data::catalogue::entry(recipe.data.set).task == Task::classification;
  if (classified == (recipe.model.family == linear::Family::linear)) {
    fields.refuse("model.family", fmt::format("does not fit the data set {}", recipe.data.set));
  }
  if (!classified && !recipe.data.classes.empty()) fields.refuse("data.classes", "needs a data set with classes");
  if (!classified && !recipe.counts_iterations()) {
    fields.refuse("training.epochs", "ends in an accuracy, which needs a data set with classes");
  }
}

std::vector<Recipe> embedded_recipes() {
  std::vector<Recipe> list;
  const auto add = [&](const std::string& folder, std::span<const embedded::File> files) {
    for (const embedded::File& file : files) {
      list.push_back(parse_recipe(file.content, folder + "/" + std::string(file.name)));
    }
  };
  add("table1", embedded::recipes_table1());
  add("table2", embedded::recipes_table2());
  std::sort(list.begin(), list.end(), [](const Recipe& left, const Recipe& right) {
    return std::tie(left.table, left.row) < std::tie(right.table, right.row);
  });
  return list;
}

}  // namespace

Recipe parse_recipe(std::string_view text, const std::string& file) {
  const nlohmann::json json = parse_json(text, file);
  Fields fields(json, file);
  Recipe recipe;
  recipe.table = fields.text("table");
  recipe.row = static_cast<int>(fields.count("row"));
  recipe.name = fields.text("name");
  recipe.title = fields.text("title");
  recipe.data = read_data(fields.object("data"));
  recipe.model = read_model(fields.object("model"));
  recipe.training = read_training(fields.object("training"));
  recipe.baseline_rate = fields.positive("baseline_rate");
  recipe.protocols = read_protocols(fields);
  recipe.paper = read_paper(fields.object("paper"), !recipe.counts_iterations());
  recipe.caveats = fields.texts("caveats");
  fields.finish();
  check_task(recipe, fields);
  return recipe;
}

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> list = embedded_recipes();
  return list;
}

std::vector<Recipe> select_recipes(const std::string& table, const std::vector<std::string>& names) {
  return choose_rows(recipes(), table, names);
}

}  // namespace lipschitzlr::experiment
