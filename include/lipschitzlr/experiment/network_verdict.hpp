#pragma once
// What the records of network trainings say about a row of the paper, by fixed rules and never by hand. Records are
// joined to rows by what was trained, not by name. The verdict rests on the protocol coded, which made the tables. With
// n epochs done, the best accuracy of ours up to n is compared with the best of the authors' curve up to n, and the
// median ratio of our computed rates to theirs (from epoch 2 on, where the start is forgotten) with 1. A row is
//   artefact          when its recipe says why it is one; the comparison follows as reasons
//   reproduced        when all epochs are done and both agree within the tolerances below; differs when not
//   agrees so far     the same with fewer epochs than the paper's; differs so far
//   no curve          when there is nothing to compare with before all epochs are done
//   another network   when the paper quotes its figure from elsewhere, for a network other than the one trained
//   other options     when it was trained otherwise than the recipe says
//   failed            when the training ended in itself
//   not run           when there is no record

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/curve.hpp"
#include "lipschitzlr/experiment/network_recipe.hpp"
#include "lipschitzlr/experiment/verdict.hpp"
#include "lipschitzlr/run/network_record.hpp"

namespace lipschitzlr::experiment {

// Percent. An epoch's accuracy jumps: the tolerance is the median jump of the authors' curve from epoch to epoch over
// the eight epochs up to n, which one collapse does not widen, and this at least.
inline constexpr double kLeastJump = 1;
inline constexpr std::size_t kJumpEpochs = 8;
inline constexpr double kNetworkRateTolerance = 0.25;  // of the median ratio
inline constexpr double kPeakTolerance = 1;            // percent between best and last epoch worth a word

// Whether a record is a training of this row: data, network, optimizer, policy, protocol and decay, on all images,
// without a schedule.
bool is_of(const NetworkRecipe& recipe, const std::string& protocol, const run::NetworkRecord& record);

// What else was chosen otherwise than by the recipe: "first rate 0.001 in place of none", "--beta 0.5". Empty: nothing.
std::vector<std::string> departures(const NetworkRecipe& recipe, const std::string& protocol,
                                    const run::NetworkRecord& record);

// The records of a row under a protocol, those with the most epochs first.
std::vector<const run::NetworkRecord*> records_of(const NetworkRecipe& recipe, const std::string& protocol,
                                                  const std::vector<run::NetworkRecord>& records);

// Those of them that got as far as the furthest, one per seed, which is where seeds can be compared; none without an
// epoch.
std::vector<const run::NetworkRecord*> furthest_of(const NetworkRecipe& recipe, const std::string& protocol,
                                                   const std::vector<run::NetworkRecord>& records);

struct Peak {
  std::size_t epoch = 0;  // from 1; 0: there is none
  double percent = 0;
};
Peak best_accuracy(const run::NetworkRecord& record);
Peak best_accuracy(const Curve& curve, std::size_t epochs);  // up to that epoch

// Percent, over seeds.
Spread best_accuracies(const std::vector<const run::NetworkRecord*>& records);
Spread last_accuracies(const std::vector<const run::NetworkRecord*>& records);

// Percent: how far our best may lie from the curve's at an epoch.
double accuracy_tolerance(const Curve& curve, std::size_t epochs);

// The median of our rate over theirs, epochs 2 to the last of both; none when the curve has no rates or one epoch.
std::optional<double> rate_ratio(const run::NetworkRecord& record, const Curve& curve);

// hours: what the row would take here, for the sentence of a row that was not run.
Verdict judge(const NetworkRecipe& recipe, const std::vector<run::NetworkRecord>& records,
              std::optional<double> hours = {});

}  // namespace lipschitzlr::experiment
