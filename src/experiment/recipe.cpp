#include "lipschitzlr/experiment/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "embedded/recipes_comparison.hpp"
#include "embedded/recipes_table1.hpp"
#include "embedded/recipes_table2.hpp"
#include "embedded/recipes_table3.hpp"
#include "embedded/recipes_text.hpp"
#include "experiment/fields.hpp"
#include "experiment/network_recipe.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::experiment {
namespace {

using data::catalogue::Entry;
using data::catalogue::Task;

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string read_data_set(Fields& fields, const std::string& name) {
  const std::string set = fields.text(name);
  if (data::catalogue::find(set) == nullptr) fields.refuse(name, fmt::format("names no known data set: {}", set));
  return set;
}

void read_data(Fields fields, LinearTraining& training) {
  training.data = read_data_set(fields, "set");
  if (fields.has("test_set")) training.test_set = read_data_set(fields, "test_set");
  if (fields.has("test_fraction")) {
    training.test_fraction = fields.positive("test_fraction");
    if (training.test_fraction >= 1) fields.refuse("test_fraction", "must be below 1");
    if (!training.test_set.empty()) fields.refuse("test_fraction", "and test_set exclude each other");
  }
  if (fields.has("classes")) {
    training.classes = fields.texts("classes");
    const std::set<std::string> different(training.classes.begin(), training.classes.end());
    if (different.size() < 2 || different.size() < training.classes.size()) {
      fields.refuse("classes", "must be two or more different classes");
    }
  }
  if (fields.has("first_columns")) training.first_columns = fields.count("first_columns");
  if (fields.has("first_rows")) training.first_rows = fields.count("first_rows");
  fields.finish();
}

// The library's own readers of names know nothing of files: their sentence becomes part of ours.
template <class Read>
auto read_name(Fields& fields, const std::string& name, Read&& read) {
  try {
    return read(fields.text(name));
  } catch (const Error& error) {
    if (error.fault() == Fault::data) throw;
    fields.refuse(name, fmt::format("makes no sense: {}", error.what()));
  }
}

void read_model(Fields fields, LinearTraining& training) {
  training.family = read_name(fields, "family", linear::family_from);
  training.scaling = read_name(fields, "scaling", data::scaling_from);
  training.intercept = fields.flag("intercept");
  if (fields.has("intercept_in_constant")) {
    training.intercept_in_constant = fields.flag("intercept_in_constant");
    const bool known = training.intercept && training.family == linear::Family::softmax;
    if (!training.intercept_in_constant && !known) {
      fields.refuse("intercept_in_constant", "goes with the intercept of a softmax regression");
    }
  }
  if (fields.has("loss")) {
    if (fields.text("loss") != "clipped") fields.refuse("loss", "must be clipped, or left out");
    if (training.family != linear::Family::softmax) fields.refuse("loss", "goes with softmax regression");
    training.clipped = true;
  }
  fields.finish();
}

void read_steps(Fields fields, LinearTraining& training) {
  const std::string start = fields.text("start");
  if (start != "zero" && start != "normal") fields.refuse("start", "must be zero or normal");
  training.start = start == "zero" ? Start::zero : Start::normal;
  if (fields.has("batch")) training.batch = fields.count("batch");
  if (fields.has("threshold") == fields.has("epochs")) {
    fields.refuse("threshold", "or training.epochs must be there, and not both");
  }
  if (fields.has("threshold")) {
    training.threshold = fields.positive("threshold");
    if (training.batch != 0)
      fields.refuse("batch", "does not go with a threshold: iterations are counted over all rows");
  } else {
    training.epochs = fields.count("epochs");
    if (fields.has("best_epoch")) training.best_epoch = fields.flag("best_epoch");
  }
  fields.finish();
}

void read_paper(Fields fields, LinearTraining& training) {
  training.paper.rate = fields.positive("rate");
  for (const auto& [name, figure] :
       {std::pair{"baseline", &training.paper.baseline}, {"computed", &training.paper.computed}}) {
    *figure = training.counts_iterations() ? static_cast<double>(fields.count(name)) : fields.percent(name);
  }
  training.paper.rows = fields.count("rows");
  if (fields.has("losses")) {
    training.paper.losses = fields.numbers("losses");
    if (training.batch == 0) fields.refuse("losses", "are those of mini-batches");
  }
  fields.finish();
}

LinearTraining read_linear(Fields& fields) {
  LinearTraining training;
  read_data(fields.object("data"), training);
  read_model(fields.object("model"), training);
  read_steps(fields.object("training"), training);
  training.baseline_rate = fields.positive("baseline_rate");
  read_paper(fields.object("paper"), training);
  const bool classified = data::catalogue::entry(training.data).task == Task::classification;
  if (classified == (training.family == linear::Family::linear)) {
    fields.refuse("model.family", fmt::format("does not fit the data set {}", training.data));
  }
  if (!classified && !training.classes.empty()) fields.refuse("data.classes", "needs a data set with classes");
  if (!classified && !training.counts_iterations()) {
    fields.refuse("training.epochs", "ends in an accuracy, which needs a data set with classes");
  }
  return training;
}

std::vector<std::string> read_protocols(Fields& fields) {
  const std::vector<std::string> protocols = fields.texts("protocols");
  const auto count = [&](const char* name) { return std::count(protocols.begin(), protocols.end(), name); };
  const auto published = count("published"), coded = count("coded");
  if (protocols.empty()) fields.refuse("protocols", "must not be empty");
  if (std::max(published, coded) > 1 || published + coded != static_cast<std::ptrdiff_t>(protocols.size())) {
    fields.refuse("protocols", "may hold published and coded, each once");
  }
  return protocols;
}

std::vector<Recipe> embedded_recipes() {
  std::vector<Recipe> list;
  const auto add = [&](const std::string& table, std::span<const embedded::File> files) {
    const auto first = static_cast<std::ptrdiff_t>(list.size());
    for (const embedded::File& file : files) {
      list.push_back(parse_recipe(file.content, table + "/" + std::string(file.name)));
    }
    std::sort(list.begin() + first, list.end(),
              [](const Recipe& left, const Recipe& right) { return left.row < right.row; });
  };
  add("table1", embedded::recipes_table1());
  add("table2", embedded::recipes_table2());
  add("table3", embedded::recipes_table3());
  add("comparison", embedded::recipes_comparison());
  add("text", embedded::recipes_text());
  return list;
}

}  // namespace

bool Recipe::has(const std::string& protocol) const { return contains(protocols, protocol); }

Recipe parse_recipe(std::string_view text, const std::string& file) {
  const nlohmann::json json = parse_json(text, file);
  Fields fields(json, file);
  Recipe recipe;
  recipe.table = fields.text("table");
  if (!contains({"table1", "table2", "table3", "comparison", "text"}, recipe.table)) {
    fields.refuse("table", "must be table1, table2, table3, comparison or text");
  }
  recipe.row = static_cast<int>(fields.count("row"));
  recipe.name = fields.text("name");
  recipe.title = fields.text("title");
  recipe.protocols = read_protocols(fields);
  if (recipe.table == "table1" || recipe.table == "table2") {
    recipe.linear = read_linear(fields);
  } else {
    recipe.network = read_network(fields, recipe);
    if (fields.has("artefacts")) recipe.artefacts = fields.texts("artefacts");
  }
  recipe.caveats = fields.texts("caveats");
  fields.finish();
  return recipe;
}

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> list = embedded_recipes();
  return list;
}

const Recipe* find_recipe(const std::string& id) {
  const auto found =
      std::find_if(recipes().begin(), recipes().end(), [&](const Recipe& recipe) { return recipe.id() == id; });
  return found == recipes().end() ? nullptr : &*found;
}

std::vector<Recipe> select_recipes(const std::string& table, const std::vector<std::string>& names) {
  std::vector<Recipe> chosen;
  std::vector<std::string> known;
  for (const Recipe& recipe : recipes()) {
    if (recipe.table != table) continue;
    known.push_back(recipe.name);
    if (names.empty() || contains(names, recipe.name)) chosen.push_back(recipe);
  }
  for (const std::string& name : names) {
    if (contains(known, name)) continue;
    throw Error(Fault::usage, fmt::format("{} has no row \"{}\"{}; its rows are {}", table, name,
                                          did_you_mean(name, known), fmt::join(known, ", ")));
  }
  if (known.empty()) throw Error(Fault::usage, fmt::format("there are no recipes for \"{}\"", table));
  return chosen;
}

std::vector<Recipe> select_rows(const std::vector<std::string>& names) {
  std::vector<std::string> chosen;
  for (const std::string& name : names) {
    std::vector<std::string> ids;
    for (const Recipe& recipe : recipes()) {
      if (recipe.id() == name || recipe.name == name) ids.push_back(recipe.id());
    }
    if (ids.empty()) {
      throw Error(Fault::usage, fmt::format("there is no table or row \"{}\"; `lipschitzlr reproduce list` shows them, "
                                            "`lipschitzlr reproduce --help` the commands",
                                            name));
    }
    if (ids.size() > 1) throw Error(Fault::usage, fmt::format("\"{}\" may be {}", name, fmt::join(ids, " or ")));
    chosen.push_back(ids[0]);
  }
  std::vector<Recipe> list = recipes();
  std::erase_if(list, [&](const Recipe& recipe) { return !contains(chosen, recipe.id()); });
  return list;
}

std::vector<std::string> absent_sets(const Recipe& recipe) {
  const Entry& entry = data::catalogue::entry(recipe.data());
  std::vector<std::string> absent;
  for (const std::string& set : {entry.name, recipe.linear ? recipe.linear->test_set : entry.companion}) {
    if (set.empty()) continue;
    if (data::catalogue::place(data::catalogue::entry(set)) == data::catalogue::Place::absent) absent.push_back(set);
  }
  return absent;
}

}  // namespace lipschitzlr::experiment
