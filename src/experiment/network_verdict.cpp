#include "lipschitzlr/experiment/network_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiment/grid.hpp"

namespace lipschitzlr::experiment {
namespace {

using run::NetworkRecord;

const char* const kCoded = "coded";

// Options of `train` that are compared with the recipe by value, or that change nothing in the figures.
const std::set<std::string> kAsRowsOrNoMatter = {"--data",     "--model",       "--optimizer",
                                                 "--policy",   "--protocol",    "--decay",
                                                 "--l2",       "--batch",       "--first-rate",
                                                 "--rate",     "--constant",    "--update",
                                                 "--augment",  "--padding",     "--precision",
                                                 "--set",      "--k1",          "--k2",
                                                 "--bn-eps",   "--bn-momentum", "--limit",
                                                 "--schedule", "--epochs",      "--seed",
                                                 "--threads",  "--log-steps",   "--checkpoint-minutes",
                                                 "--output",   "--quiet",       "--json",
                                                 "--watch",    "--resume"};

std::string number_text(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "none"; }

std::optional<double> number_of(const NetworkRecord& record, const std::string& option) {
  const std::string text = record.option(option);
  if (text.empty() || text == "none") return {};
  return record.number(option);
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

class NetworkJudge {
 public:
  NetworkJudge(const NetworkRecipe& recipe, const std::vector<NetworkRecord>& records)
      : recipe_(recipe), all_(records), curve_(recipe.curve.empty() ? nullptr : authors_curve(recipe.curve)) {}

  Verdict verdict(std::optional<double> hours) {
    records_ = records_of(recipe_, kCoded, all_);
    if (records_.empty() || (records_[0]->epochs.empty() && records_[0]->failure.empty())) return not_run(hours);
    for (const NetworkRecord* record : records_) {
      if (!record->failure.empty())
        reasons_.push_back(fmt::format("Seed {} failed: {}.", record->option("seed"), record->failure));
    }
    if (records_[0]->epochs.empty()) return {"failed", reasons_};
    records_ = furthest_of(recipe_, kCoded, all_);
    epochs_ = records_[0]->epochs.size();
    say_ours();
    const bool complete = static_cast<std::int64_t>(epochs_) >= recipe_.training.epochs;
    if (departed_) return {"other options", reasons_};
    if (!recipe_.paper_network.empty()) return other_network();
    if (curve_ == nullptr && !complete) {
      reasons_.push_back("There is no curve of the authors to compare with before the last epoch.");
      return {recipe_.artefacts.empty() ? "no curve" : "artefact", with_artefacts()};
    }
    const bool agrees = compare_accuracy(complete) & compare_rates();
    if (!recipe_.artefacts.empty()) return {"artefact", with_artefacts()};
    return {complete ? (agrees ? "reproduced" : "differs") : (agrees ? "agrees so far" : "differs so far"), reasons_};
  }

 private:
  Verdict not_run(std::optional<double> hours) {
    std::string sentence = fmt::format("Not run yet; {} of the paper", counted(recipe_.training.epochs, "epoch"));
    sentence += hours ? fmt::format(" take about {} here.", format_duration(*hours * 3600)) : " are to be run.";
    reasons_.push_back(sentence);
    for (const NetworkRecord* record : records_of(recipe_, "published", all_)) {
      if (!record->epochs.empty()) reasons_.push_back(sentence_of(*record, "As published"));
    }
    for (const std::string& artefact : recipe_.artefacts) reasons_.push_back("Artefact: " + artefact);
    return {"not run", reasons_};
  }

  static std::string sentence_of(const NetworkRecord& record, const std::string& lead) {
    const Peak best = best_accuracy(record);
    return fmt::format("{}: best {} in epoch {} of {}, last {}.", lead, format_percent(best.percent), best.epoch,
                       record.epochs.size(), format_percent(100 * record.epochs.back().val_accuracy));
  }

  void say_ours() {
    for (const NetworkRecord* record : records_) {
      reasons_.push_back(sentence_of(*record, fmt::format("Seed {}", record->option("seed"))));
      if (!record->problem.empty()) reasons_.push_back(fmt::format("The record is damaged: {}.", record->problem));
      for (const std::string& departure : departures(recipe_, kCoded, *record)) {
        reasons_.push_back(fmt::format("Trained with {}.", departure));
        departed_ = true;
      }
    }
    if (records_.size() < 2) return;
    const Spread best = best_accuracies(records_);
    reasons_.push_back(fmt::format("Mean of {} trainings: best {}, from {} to {}.", best.count,
                                   format_percent(best.mean), format_percent(best.least), format_percent(best.most)));
  }

  bool compare_accuracy(bool complete) {
    const Peak theirs = curve_ != nullptr ? best_accuracy(*curve_, epochs_) : Peak{epochs_, recipe_.accuracy};
    const double tolerance = curve_ != nullptr ? accuracy_tolerance(*curve_, epochs_) : kLeastJump;
    const Spread ours = best_accuracies(records_);
    const bool agrees = theirs.percent >= ours.least - tolerance && theirs.percent <= ours.most + tolerance;
    reasons_.push_back(fmt::format(
        "{}: {} has {} at best up to epoch {}; the tolerance is {:.1f} percent.", agrees ? "Agrees" : "Differs",
        curve_ != nullptr ? "the authors' curve" : "the paper", format_percent(theirs.percent), epochs_, tolerance));
    if (curve_ != nullptr && complete) say_peak();
    return agrees;
  }

  void say_peak() {
    const double best = best_accuracy(*curve_, curve_->val_accuracy.size()).percent;
    const double last = 100 * curve_->val_accuracy.back();
    if (best - last <= kPeakTolerance) return;
    reasons_.push_back(fmt::format("The paper's figure is a peak: the last epoch of the authors' curve has {}.",
                                   format_percent(last)));
  }

  bool compare_rates() {
    if (curve_ == nullptr) return true;
    bool agrees = true;
    for (const NetworkRecord* record : records_) {
      const std::optional<double> ratio = rate_ratio(*record, *curve_);
      if (!ratio) continue;
      const bool near = std::abs(*ratio - 1) <= kNetworkRateTolerance;
      agrees &= near;
      reasons_.push_back(fmt::format("{}: our computed rates are {:.2f} times the authors' (median from epoch 2 on).",
                                     near ? "Agrees" : "Differs", *ratio));
    }
    return agrees;
  }

  Verdict other_network() {
    reasons_.push_back(fmt::format("The paper's {} are for another network, {}.", format_percent(recipe_.accuracy),
                                   recipe_.paper_network));
    for (const std::string& id : recipe_.compared_with) {
      const NetworkRecipe* const row = find_network_recipe(id);
      if (row == nullptr || row->training.network != recipe_.training.network) continue;
      for (const NetworkRecord* record : furthest_of(*row, kCoded, all_)) {
        NetworkRecord part = *record;
        part.epochs.resize(std::min(part.epochs.size(), epochs_));
        reasons_.push_back(sentence_of(part, id));
      }
    }
    return {"another network", reasons_};
  }

  std::vector<std::string> with_artefacts() const {
    std::vector<std::string> sentences;
    for (const std::string& sentence : recipe_.artefacts) sentences.push_back("Artefact: " + sentence);
    sentences.insert(sentences.end(), reasons_.begin(), reasons_.end());
    return sentences;
  }

  const NetworkRecipe& recipe_;
  const std::vector<NetworkRecord>& all_;
  const Curve* curve_;
  std::vector<const NetworkRecord*> records_;
  std::size_t epochs_ = 0;
  bool departed_ = false;
  std::vector<std::string> reasons_;
};

}  // namespace

bool is_of(const NetworkRecipe& recipe, const std::string& protocol, const NetworkRecord& record) {
  const NetworkTraining& training = recipe.training;
  const char* const decay = protocol == kCoded ? "decay" : "l2";
  // No row of the paper has a schedule; records older than schedules do not know the word.
  if (!record.option("schedule").empty() && record.option("schedule") != "constant") return false;
  return record.option("data") == training.data && record.option("network") == training.network &&
         record.option("optimizer") == training.optimizer && record.option("policy") == training.policy &&
         record.option("protocol") == protocol && record.number(decay) == training.decay && record.number("limit") == 0;
}

std::vector<std::string> departures(const NetworkRecipe& recipe, const std::string& protocol,
                                    const NetworkRecord& record) {
  std::vector<std::string> list;
  const auto compare = [&](const char* name, const char* option, std::optional<double> wanted) {
    const std::optional<double> had = number_of(record, option);
    if (had != wanted) list.push_back(fmt::format("{} {} in place of {}", name, number_text(had), number_text(wanted)));
  };
  const NetworkTraining& training = recipe.training;
  compare("batches of", "batch", static_cast<double>(training.batch));
  if (training.policy != "baseline") compare("first rate", "first_rate", training.first_rate);
  if (!record.option("rate").empty()) compare("rate", "rate", training.rate);
  compare("constant", "constant", protocol == kCoded ? recipe.coded_constant : std::nullopt);
  if (!record.option("l2").empty()) compare("l2", "l2", training.decay);  // the constant's lambda, under both protocols
  if (!record.option("decay").empty()) compare("decay", "decay", protocol == kCoded ? training.decay : 0);
  for (const auto& [option, usual] :
       {std::pair{"update", "epoch"}, {"augment", "auto"}, {"padding", "tensorflow"}, {"precision", "single"}}) {
    const std::string had = record.option(option);
    if (!had.empty() && had != usual) list.push_back(fmt::format("{} {} in place of {}", option, had, usual));
  }
  for (const char* const option : {"settings", "k1", "k2", "bn_epsilon", "bn_momentum"}) {
    const std::string had = record.option(option);
    if (!had.empty()) list.push_back(fmt::format("{} {}", option, had));
  }
  // What else a row leaves at its default.
  for (auto word = record.command.begin(); word != record.command.end(); ++word) {
    const std::string option = word->substr(0, word->find('='));
    if (option.size() < 3 || !option.starts_with("--") || kAsRowsOrNoMatter.contains(option)) continue;
    const bool has_value = option == *word && word + 1 != record.command.end() && !(word + 1)->starts_with("--");
    list.push_back(has_value ? *word + " " + *(word + 1) : *word);
  }
  return list;
}

std::vector<const NetworkRecord*> records_of(const NetworkRecipe& recipe, const std::string& protocol,
                                             const std::vector<NetworkRecord>& records) {
  std::vector<const NetworkRecord*> list;
  for (const NetworkRecord& record : records) {
    if (is_of(recipe, protocol, record)) list.push_back(&record);
  }
  // Of as many epochs, the one that was trained as the recipe says comes first.
  const auto departs = [&](const NetworkRecord* record) { return !departures(recipe, protocol, *record).empty(); };
  std::stable_sort(list.begin(), list.end(), [&](const NetworkRecord* left, const NetworkRecord* right) {
    if (left->epochs.size() != right->epochs.size()) return left->epochs.size() > right->epochs.size();
    return !departs(left) && departs(right);
  });
  return list;
}

std::vector<const NetworkRecord*> furthest_of(const NetworkRecipe& recipe, const std::string& protocol,
                                              const std::vector<NetworkRecord>& records) {
  std::vector<const NetworkRecord*> list = records_of(recipe, protocol, records);
  if (list.empty()) return list;
  const std::size_t most = std::max(list.front()->epochs.size(), std::size_t{1});
  std::set<std::string> seeds;
  std::erase_if(list, [&](const NetworkRecord* record) {
    return record->epochs.size() < most || !seeds.insert(record->option("seed")).second;
  });
  return list;
}

Spread best_accuracies(const std::vector<const NetworkRecord*>& records) {
  std::vector<double> values;
  for (const NetworkRecord* record : records) values.push_back(best_accuracy(*record).percent);
  return spread_of(values);
}

Spread last_accuracies(const std::vector<const NetworkRecord*>& records) {
  std::vector<double> values;
  for (const NetworkRecord* record : records) values.push_back(100 * record->epochs.back().val_accuracy);
  return spread_of(values);
}

Peak best_accuracy(const NetworkRecord& record) {
  Peak best;
  for (const run::EpochLine& line : record.epochs) {
    const double percent = 100 * line.val_accuracy;
    if (best.epoch == 0 || percent > best.percent) best = {static_cast<std::size_t>(line.epoch), percent};
  }
  return best;
}

Peak best_accuracy(const Curve& curve, std::size_t epochs) {
  const auto end =
      curve.val_accuracy.begin() + static_cast<std::ptrdiff_t>(std::min(epochs, curve.val_accuracy.size()));
  const auto best = std::max_element(curve.val_accuracy.begin(), end);
  if (best == end) return {};
  return {static_cast<std::size_t>(best - curve.val_accuracy.begin()) + 1, 100 * *best};
}

double accuracy_tolerance(const Curve& curve, std::size_t epochs) {
  const std::size_t end = std::min(std::max(epochs, kJumpEpochs), curve.val_accuracy.size());
  const std::size_t begin = end - std::min(end, kJumpEpochs);
  std::vector<double> jumps;
  for (std::size_t i = begin + 1; i < end; ++i) {
    jumps.push_back(100 * std::abs(curve.val_accuracy[i] - curve.val_accuracy[i - 1]));
  }
  return std::max(kLeastJump, median_of(jumps).value_or(0));
}

std::optional<double> rate_ratio(const NetworkRecord& record, const Curve& curve) {
  std::vector<double> ratios;
  for (const run::EpochLine& line : record.epochs) {
    const auto epoch = static_cast<std::size_t>(line.epoch);
    if (epoch < 2 || epoch > curve.rate.size() || !(curve.rate[epoch - 1] > 0)) continue;
    ratios.push_back(line.rate / curve.rate[epoch - 1]);
  }
  return median_of(ratios);
}

Verdict judge(const NetworkRecipe& recipe, const std::vector<NetworkRecord>& records, std::optional<double> hours) {
  return NetworkJudge(recipe, records).verdict(hours);
}

}  // namespace lipschitzlr::experiment
