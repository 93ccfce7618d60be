#include "lipschitzlr/experiment/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "experiment/judges.hpp"
#include "lipschitzlr/experiment/text_table.hpp"

namespace lipschitzlr::experiment {
namespace {

bool was_run(const Row& row) {
  if (row.recipe.linear) return !row.runs.empty();
  return std::any_of(row.runs.begin(), row.runs.end(), [](const Run& run) {
    return run.rate_name == "coded" && (run.iterations > 0 || !run.record->failure.empty());
  });
}

Verdict not_run(const Row& row) {
  if (!row.absent.empty()) {
    return {"no data",
            {fmt::format("Get the data with: lipschitzlr data get {}, or take them from a folder with: lipschitzlr "
                         "data import FOLDER.",
                         fmt::join(row.absent, " "))}};
  }
  if (row.recipe.linear) {
    return {"not run",
            {row.interrupted   ? "Interrupted before this row."
             : row.out_of_time ? "The time was up before this row."
                               : "Not run yet."}};
  }
  const std::string takes =
      row.hours ? fmt::format("take about {} here", format_duration(3600 * *row.hours)) : "are to be run";
  Verdict verdict{
      "not run",
      {fmt::format("Not run yet; {} of the paper {}.", counted(row.recipe.network->epochs, "epoch"), takes)}};
  for (const Run& run : row.runs) {
    if (run.iterations > 0) verdict.reasons.push_back(best_and_last(run, "As published"));
  }
  for (const std::string& artefact : row.recipe.artefacts) verdict.reasons.push_back("Artefact: " + artefact);
  return verdict;
}

}  // namespace

Verdict judge(const Row& row) {
  if (!was_run(row)) return not_run(row);
  return row.recipe.linear ? judge_linear(row) : judge_network(row);
}

std::vector<std::string> notes_of(const Row& row) {
  std::vector<std::string> notes = judge(row).reasons;
  if (row.recipe.linear && !row.runs.empty()) {
    const std::int64_t epochs = row.recipe.linear->epochs.value_or(row.epochs);
    if (row.epochs != epochs) {
      notes.push_back(
          fmt::format("{} asked for with --epochs; the paper's row has {}.", counted(row.epochs, "epoch"), epochs));
    }
    if (row.out_of_time || row.interrupted) {
      notes.push_back(fmt::format("{}: what was running was cut short, after {}.",
                                  row.interrupted ? "Interrupted" : "The time was up",
                                  counted(row.seeds_done, "whole seed")));
    }
  }
  notes.insert(notes.end(), row.recipe.caveats.begin(), row.recipe.caveats.end());
  return notes;
}

}  // namespace lipschitzlr::experiment
