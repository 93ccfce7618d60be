#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lipschitzlr/experiment/row.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::experiment {
namespace {

using run::Record;

// Flags of `train` that change nothing in the figures, or whose values were compared by the option's name.
std::set<std::string> harmless_flags(const std::set<std::string>& compared) {
  run::TrainRequest request;
  run::TrainOptions options;
  std::set<std::string> flags = {"--quiet", "--json"};
  for (const run::Option& option : options_of(request)) flags.insert(flag_of(option));
  for (const run::Option& option : options_of(options)) {
    if (!option.is(run::kMayChange) && !compared.contains(option.name)) flags.erase(flag_of(option));
  }
  flags.erase("--weights");
  return flags;
}

std::string number_text(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "none"; }

std::optional<double> number_of(const Record& record, const std::string& option) {
  const std::string text = record.option(option);
  if (text.empty() || text == "none") return {};
  return record.number(option);
}

Run run_of(const Recipe& recipe, const std::string& protocol, const Record& record) {
  const std::vector<double>& accuracy = record.column("val_accuracy");
  Run run;
  run.rate_name = protocol;
  run.seed = static_cast<std::uint64_t>(record.number("seed"));
  run.iterations = static_cast<std::int64_t>(record.length());
  run.complete = run.iterations >= recipe.network->epochs;
  run.accuracy = best_accuracy(accuracy).share;
  run.last_accuracy = accuracy.empty() || std::isnan(accuracy.back()) ? 0 : accuracy.back();
  run.record = &record;
  return run;
}

}  // namespace

bool is_of(const Recipe& recipe, const std::string& protocol, const Record& record) {
  const NetworkTraining& training = *recipe.network;
  const char* const decay = protocol == "coded" ? "decay" : "l2";
  // No row of the paper has a schedule; records older than schedules do not know the word.
  if (!record.option("schedule").empty() && record.option("schedule") != "constant") return false;
  return record.kind == run::RecordKind::network && record.data() == training.data &&
         record.model() == training.network && record.optimizer() == training.optimizer &&
         record.option("policy") == training.policy && record.option("protocol") == protocol &&
         record.number(decay) == training.decay_under(protocol) && record.number("limit") == 0 &&
         std::all_of(training.options.begin(), training.options.end(),
                     [&](const auto& option) { return record.option(option.first) == option.second; });
}

std::vector<std::string> departures(const Recipe& recipe, const std::string& protocol, const Record& record) {
  std::vector<std::string> list;
  std::set<std::string> compared = {"data", "network", "optimizer", "policy", "protocol", "limit", "schedule", "seed"};
  const auto compare = [&](const char* name, const char* option, std::optional<double> wanted, bool always) {
    compared.insert(option);
    const std::optional<double> had = number_of(record, option);
    if (had == wanted || (!always && record.option(option).empty())) return;
    list.push_back(fmt::format("{} {} in place of {}", name, number_text(had), number_text(wanted)));
  };
  const NetworkTraining& training = *recipe.network;
  const bool coded = protocol == "coded", baseline = training.policy == "baseline";
  const bool glorot = coded && !training.network.starts_with("resnet");
  compare("batches of", "batch", static_cast<double>(training.batch), true);
  compare("first rate", "first_rate", baseline ? number_of(record, "first_rate") : training.first_rate, true);
  compare("rate", "rate", training.rate, false);
  compare("constant", "constant", coded ? training.coded_constant : std::nullopt, true);
  // The constant's lambda, under both protocols:
  const double decay = training.decay_under(protocol);
  compare("l2", "l2", coded ? training.coded_l2.value_or(decay) : decay, false);
  compare("decay", "decay", coded ? decay : 0, false);
  for (const auto& option : training.options) compared.insert(option.first);
  for (const auto& [option, usual] : {std::pair{"update", "epoch"},
                                      {"augment", "auto"},
                                      {"padding", "tensorflow"},
                                      {"precision", "single"},
                                      {"loss", coded ? "clipped" : "cross-entropy"},
                                      {"dense_start", glorot ? "glorot" : "he-normal"},
                                      {"drop_last", training.drop_last && coded ? "true" : "false"},
                                      {"settings", ""},
                                      {"k1", ""},
                                      {"k2", ""},
                                      {"bn_epsilon", ""},
                                      {"bn_momentum", ""}}) {
    if (training.options.contains(option)) continue;
    compared.insert(option);
    const std::string had = record.option(option), instead = *usual == 0 ? "" : fmt::format(" in place of {}", usual);
    if (!had.empty() && had != usual) list.push_back(fmt::format("{} {}{}", option, had, instead));
  }
  // What else a row leaves at its default.
  const std::set<std::string> harmless = harmless_flags(compared);
  for (auto word = record.command.begin(); word != record.command.end(); ++word) {
    const std::string flag = word->substr(0, word->find('='));
    if (flag.size() < 3 || !flag.starts_with("--") || harmless.contains(flag)) continue;
    const bool has_value = flag == *word && word + 1 != record.command.end() && !(word + 1)->starts_with("--");
    list.push_back(has_value ? *word + " " + *(word + 1) : *word);
  }
  return list;
}

Row network_row(const Recipe& recipe, const std::vector<Record>& records) {
  Row row;
  row.recipe = recipe;
  for (const std::string& protocol : recipe.protocols) {
    const auto first = static_cast<std::ptrdiff_t>(row.runs.size());
    for (const Record& record : records) {
      if (is_of(recipe, protocol, record)) row.runs.push_back(run_of(recipe, protocol, record));
    }
    // Of as many epochs, the one that was trained as the recipe says comes first.
    const auto departs = [&](const Run& run) { return !departures(recipe, protocol, *run.record).empty(); };
    std::stable_sort(row.runs.begin() + first, row.runs.end(), [&](const Run& left, const Run& right) {
      if (left.iterations != right.iterations) return left.iterations > right.iterations;
      return !departs(left) && departs(right);
    });
  }
  for (const std::string& id : recipe.network->compared_with) {
    const Recipe* const other = find_recipe(id);
    if (other == nullptr || other->network->network != recipe.network->network) continue;
    row.compared.push_back(network_row(*other, records));
  }
  return row;
}

}  // namespace lipschitzlr::experiment
