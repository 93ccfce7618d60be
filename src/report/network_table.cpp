#include <fmt/format.h>

#include <algorithm>

#include "experiment/grid.hpp"
#include "report/authors.hpp"
#include "report/parts.hpp"
#include "report/words.hpp"

namespace lipschitzlr::report {
namespace {

using experiment::NetworkRecipe;
using experiment::Peak;
using run::NetworkRecord;

int source_of(const Collection& collection, const NetworkRecord& record) {
  const auto found = std::find_if(collection.runs.begin(), collection.runs.end(),
                                  [&](const RunRecord& run) { return run.folder == record.folder; });
  return found == collection.runs.end() ? kNoSource : static_cast<int>(found - collection.runs.begin());
}

Cell word(const std::string& text) { return {text.empty() ? "–" : text, kNoNumber, kNoSource, ""}; }

class RowMaker {
 public:
  RowMaker(const Collection& collection, const std::vector<NetworkRecord>& records)
      : collection_(collection), records_(records) {}

  Row make(const NetworkRecipe& recipe) const {
    Row row;
    row.id = recipe.id();
    const Cell published = ours(recipe, "published", row), coded = ours(recipe, "coded", row);
    const experiment::NetworkTraining& training = recipe.training;
    row.cells = {word(data_title(training.data)),
                 word(recipe.paper_network.empty() ? network_title(training.network) : recipe.paper_network),
                 word(optimizer_title(training.optimizer)),
                 word(training.policy),
                 {training.decay > 0 ? fmt::format("{}", training.decay) : "–", training.decay, kNoSource, ""},
                 {experiment::format_percent(recipe.accuracy), recipe.accuracy, kNoSource, ""},
                 authors(recipe, epochs_done(recipe)),
                 published,
                 coded};
    const experiment::Verdict verdict =
        experiment::judge(recipe, records_, hours_of(recipe, records_, collection_.speeds));
    row.verdict = verdict.word;
    row.reasons = verdict.reasons;
    row.reasons.insert(row.reasons.end(), recipe.caveats.begin(), recipe.caveats.end());
    if (row.sources.empty()) row.hint = "lipschitzlr reproduce " + recipe.id();
    return row;
  }

 private:
  Cell ours(const NetworkRecipe& recipe, const std::string& protocol, Row& row) const {
    const std::vector<const NetworkRecord*> found = experiment::records_of(recipe, protocol, records_);
    for (const NetworkRecord* record : found) row.sources.push_back(source_of(collection_, *record));
    const std::vector<const NetworkRecord*> furthest = experiment::furthest_of(recipe, protocol, records_);
    if (furthest.empty()) return word("");
    const experiment::Spread best = experiment::best_accuracies(furthest);
    std::string remark = fmt::format("best of {}", counted(furthest[0]->epochs.size(), "epoch"));
    if (best.count > 1) remark += fmt::format(", {} seeds: {:.2f}–{:.2f}", best.count, best.least, best.most);
    return {experiment::format_percent(best.mean), best.mean, source_of(collection_, *furthest[0]), remark};
  }

  std::size_t epochs_done(const NetworkRecipe& recipe) const {
    std::size_t most = 0;
    for (const char* protocol : {"coded", "published"}) {
      const auto found = experiment::records_of(recipe, protocol, records_);
      if (most == 0 && !found.empty()) most = found.front()->epochs.size();
    }
    return most;
  }

  // At the epoch ours has reached; all of theirs when ours has not begun.
  static Cell authors(const NetworkRecipe& recipe, std::size_t epochs) {
    const experiment::Curve* curve = experiment::authors_curve(recipe.curve);
    if (curve == nullptr || curve->val_accuracy.empty()) return word("");
    const std::size_t upto = epochs == 0 ? curve->val_accuracy.size() : std::min(epochs, curve->val_accuracy.size());
    const Peak best = experiment::best_accuracy(*curve, upto);
    const bool all = upto == curve->val_accuracy.size();
    return {experiment::format_percent(best.percent), best.percent, kNoSource,
            all ? "" : fmt::format("best of {}", counted(upto, "epoch"))};
  }

  const Collection& collection_;
  const std::vector<NetworkRecord>& records_;
};

std::vector<Column> columns() {
  const std::string group = "best validation accuracy";
  return {{"", "data", false},   {"", "network", false}, {"", "algorithm", false},  {"", "policy", false},
          {"", "decay"},         {group, "paper"},       {group, "authors' curve"}, {group, "ours, published"},
          {group, "ours, coded"}};
}

}  // namespace

void add_network_tables(const Collection& collection, bool whole_paper, Document& document) {
  const std::vector<NetworkRecord> records = records_to_judge(collection);
  const RowMaker maker(collection, records);
  for (const std::string id : {"table3", "comparison"}) {
    const bool big = id == "table3";
    Table table;
    table.id = id;
    table.title = big ? "The big table: networks on images" : "Comparison with other methods";
    table.about =
        big ? "The paper prints the best of all epochs on the test set. Where ours has fewer epochs, the authors' own "
              "curve is read at the same epoch: that is what ours should be compared with."
            : "The paper quotes these figures from other papers, measured with other networks. Ours are trained on the "
              "paper's networks.";
    table.columns = columns();
    bool any = whole_paper;
    for (const NetworkRecipe& recipe : experiment::network_recipes()) {
      if (recipe.table != id) continue;
      table.rows.push_back(maker.make(recipe));
      any |= !table.rows.back().sources.empty();
    }
    if (any) document.tables.push_back(std::move(table));
  }
}

}  // namespace lipschitzlr::report
