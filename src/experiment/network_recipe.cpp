#include "experiment/network_recipe.hpp"

#include <fmt/format.h>

#include <set>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/experiment/curve.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::experiment {
namespace {

// As `train` checks them.
void read_options(Fields& fields, NetworkTraining& training) {
  Fields given = fields.object("options");
  run::TrainOptions options;
  for (const run::Option& option : options_of(options)) {
    if (!given.has(option.name)) continue;
    const std::string value = given.text(option.name);
    try {
      assign(option, {value});
    } catch (const Error& error) {
      given.refuse(option.name, fmt::format("makes no sense: {}", error.what()));
    }
    training.options[option.name] = run::to_text(option.member.get());
  }
  given.finish();
}

void read_coded(Fields fields, NetworkTraining& training) {
  if (fields.has("constant")) training.coded_constant = fields.positive("constant");
  if (fields.has("decay")) training.coded_decay = fields.number("decay");
  if (fields.has("l2")) training.coded_l2 = fields.number("l2");
  if (training.coded_decay.value_or(0) < 0) fields.refuse("decay", "must be 0 or more");
  if (training.coded_l2.value_or(0) < 0) fields.refuse("l2", "must be 0 or more");
  fields.finish();
}

void read_training(Fields fields, NetworkTraining& training) {
  training.data = fields.text("data");
  const data::catalogue::Entry* entry = data::catalogue::find(training.data);
  if (entry == nullptr || !entry->holds_images()) {
    fields.refuse("data", fmt::format("names no known set of images: {}", training.data));
  }
  training.network = fields.text("network");
  training.optimizer = fields.text("optimizer");
  training.policy = fields.text("policy");
  const std::set<std::string> policies = {"baseline", "fixed", "adaptive"};
  if (!policies.contains(training.policy)) fields.refuse("policy", "must be baseline, fixed or adaptive");
  training.epochs = fields.count("epochs");
  training.batch = fields.count("batch");
  training.decay = fields.number("decay");
  if (training.decay < 0) fields.refuse("decay", "must be 0 or more");
  if (fields.has("first_rate")) training.first_rate = fields.positive("first_rate");
  if (fields.has("rate")) training.rate = fields.positive("rate");
  if (fields.has("drop_last")) training.drop_last = fields.flag("drop_last");
  if (fields.has("options")) read_options(fields, training);
  const bool baseline = training.policy == "baseline";
  if (baseline && training.first_rate) fields.refuse("first_rate", "does not go with the policy baseline");
  if (!baseline && training.rate) fields.refuse("rate", "goes with the policy baseline only");
  fields.finish();
}

}  // namespace

NetworkTraining read_network(Fields& fields, const Recipe& recipe) {
  NetworkTraining training;
  read_training(fields.object("training"), training);
  if (fields.has("coded")) {
    read_coded(fields.object("coded"), training);
    if (!recipe.has("coded")) fields.refuse("coded", "needs the protocol coded");
  }
  Fields paper = fields.object("paper");
  training.paper_accuracy = paper.percent("accuracy");
  if (paper.has("network")) training.paper_network = paper.text("network");
  paper.finish();
  if (fields.has("curve")) {
    training.curve = fields.text("curve");
    if (authors_curve(training.curve) == nullptr) {
      fields.refuse("curve", fmt::format("names no curve of the authors: {}", training.curve));
    }
  }
  if (fields.has("compared_with")) training.compared_with = fields.texts("compared_with");
  return training;
}

std::vector<std::string> train_options(const Recipe& recipe, const std::string& protocol) {
  const NetworkTraining& training = *recipe.network;
  std::vector<std::string> words = {"--data",      training.data,      "--model",  training.network,
                                    "--optimizer", training.optimizer, "--policy", training.policy,
                                    "--protocol",  protocol,           "--batch",  std::to_string(training.batch)};
  const auto add = [&](const char* option, double value) {
    words.insert(words.end(), {option, fmt::format("{}", value)});
  };
  const bool coded = protocol == "coded";
  // The paper's text has weight decay; what its authors ran was a decay of the rate.
  if (const double decay = training.decay_under(protocol); decay > 0) add(coded ? "--decay" : "--l2", decay);
  if (coded && training.coded_l2) add("--l2", *training.coded_l2);
  if (training.first_rate) add("--first-rate", *training.first_rate);
  if (training.rate) add("--rate", *training.rate);
  if (training.coded_constant && coded) add("--constant", *training.coded_constant);
  if (training.drop_last && coded) words.emplace_back("--drop-last");
  run::TrainOptions of_train;
  const run::Options table = options_of(of_train);
  for (const auto& [name, value] : training.options) {
    words.insert(words.end(), {flag_of(find_option(table, name)), value});
  }
  return words;
}

}  // namespace lipschitzlr::experiment
