#include "lipschitzlr/experiment/network_recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "embedded/recipes_comparison.hpp"
#include "embedded/recipes_table3.hpp"
#include "experiment/choose_rows.hpp"
#include "experiment/fields.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/experiment/curve.hpp"

namespace lipschitzlr::experiment {
namespace {

const std::array<std::string, 2> kTables = {"table3", "comparison"};

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

NetworkTraining read_training(Fields fields) {
  NetworkTraining training;
  training.data = fields.text("data");
  const data::catalogue::Entry* entry = data::catalogue::find(training.data);
  if (entry == nullptr || !entry->holds_images()) {
    fields.refuse("data", fmt::format("names no known set of images: {}", training.data));
  }
  training.network = fields.text("network");
  training.optimizer = fields.text("optimizer");
  training.policy = fields.text("policy");
  if (!is_one_of(training.policy, {"baseline", "fixed", "adaptive"})) {
    fields.refuse("policy", "must be baseline, fixed or adaptive");
  }
  training.epochs = fields.count("epochs");
  training.batch = fields.count("batch");
  training.decay = fields.number("decay");
  if (training.decay < 0) fields.refuse("decay", "must be 0 or more");
  if (fields.has("first_rate")) training.first_rate = fields.positive("first_rate");
  if (fields.has("rate")) training.rate = fields.positive("rate");
  const bool baseline = training.policy == "baseline";
  if (baseline && training.first_rate) fields.refuse("first_rate", "does not go with the policy baseline");
  if (!baseline && training.rate) fields.refuse("rate", "goes with the policy baseline only");
  fields.finish();
  return training;
}

void read_paper(Fields fields, NetworkRecipe& recipe) {
  recipe.accuracy = fields.percent("accuracy");
  if (fields.has("network")) recipe.paper_network = fields.text("network");
  fields.finish();
}

void read_coded(Fields fields, NetworkRecipe& recipe) {
  recipe.coded_constant = fields.positive("constant");
  fields.finish();
}

std::vector<std::string> read_protocols(Fields& fields) {
  std::vector<std::string> protocols = fields.texts("protocols");
  const bool known = std::all_of(protocols.begin(), protocols.end(), [](const std::string& name) {
    return is_one_of(name, {"published", "coded"});
  });
  const bool twice = protocols.size() == 2 && protocols[0] == protocols[1];
  if (!known || twice || protocols.size() > 2) fields.refuse("protocols", "may hold published and coded, each once");
  if (protocols.empty()) fields.refuse("protocols", "must not be empty");
  return protocols;
}

std::vector<NetworkRecipe> embedded_recipes() {
  std::vector<NetworkRecipe> list;
  const auto add = [&](const std::string& folder, std::span<const embedded::File> files) {
    const auto first = static_cast<std::ptrdiff_t>(list.size());
    for (const embedded::File& file : files) {
      list.push_back(parse_network_recipe(file.content, folder + "/" + std::string(file.name)));
    }
    std::sort(list.begin() + first, list.end(),
              [](const NetworkRecipe& left, const NetworkRecipe& right) { return left.row < right.row; });
  };
  add(kTables[0], embedded::recipes_table3());
  add(kTables[1], embedded::recipes_comparison());
  return list;
}

}  // namespace

bool NetworkRecipe::has(const std::string& protocol) const {
  return std::find(protocols.begin(), protocols.end(), protocol) != protocols.end();
}

NetworkRecipe parse_network_recipe(std::string_view text, const std::string& file) {
  const nlohmann::json json = parse_json(text, file);
  Fields fields(json, file);
  NetworkRecipe recipe;
  recipe.table = fields.text("table");
  if (std::find(kTables.begin(), kTables.end(), recipe.table) == kTables.end()) {
    fields.refuse("table", "must be table3 or comparison");
  }
  recipe.row = static_cast<int>(fields.count("row"));
  recipe.name = fields.text("name");
  recipe.title = fields.text("title");
  recipe.training = read_training(fields.object("training"));
  if (fields.has("coded")) read_coded(fields.object("coded"), recipe);
  recipe.protocols = read_protocols(fields);
  if (recipe.coded_constant && !recipe.has("coded")) fields.refuse("coded", "needs the protocol coded");
  read_paper(fields.object("paper"), recipe);
  if (fields.has("curve")) {
    recipe.curve = fields.text("curve");
    if (authors_curve(recipe.curve) == nullptr) {
      fields.refuse("curve", fmt::format("names no curve of the authors: {}", recipe.curve));
    }
  }
  if (fields.has("compared_with")) recipe.compared_with = fields.texts("compared_with");
  if (fields.has("artefacts")) recipe.artefacts = fields.texts("artefacts");
  recipe.caveats = fields.texts("caveats");
  fields.finish();
  return recipe;
}

const std::vector<NetworkRecipe>& network_recipes() {
  static const std::vector<NetworkRecipe> list = embedded_recipes();
  return list;
}

const NetworkRecipe* find_network_recipe(const std::string& id) {
  const std::vector<NetworkRecipe>& list = network_recipes();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const NetworkRecipe& recipe) { return recipe.id() == id; });
  return found == list.end() ? nullptr : &*found;
}

std::vector<NetworkRecipe> select_network_recipes(const std::string& table, const std::vector<std::string>& names) {
  return choose_rows(network_recipes(), table, names);
}

std::vector<std::string> train_options(const NetworkRecipe& recipe, const std::string& protocol) {
  const NetworkTraining& training = recipe.training;
  std::vector<std::string> words = {"--data",      training.data,      "--model",  training.network,
                                    "--optimizer", training.optimizer, "--policy", training.policy,
                                    "--protocol",  protocol,           "--batch",  std::to_string(training.batch)};
  const auto add = [&](const char* option, double value) {
    words.push_back(option);
    words.push_back(fmt::format("{}", value));
  };
  // The paper's text has weight decay; what its authors ran was a decay of the rate.
  if (training.decay > 0) add(protocol == "coded" ? "--decay" : "--l2", training.decay);
  if (training.first_rate) add("--first-rate", *training.first_rate);
  if (training.rate) add("--rate", *training.rate);
  if (recipe.coded_constant && protocol == "coded") add("--constant", *recipe.coded_constant);
  return words;
}

}  // namespace lipschitzlr::experiment
