#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "lipschitzlr/experiment/text_table.hpp"
#include "lipschitzlr/experiment/verdict.hpp"
#include "report/sections.hpp"
#include "report/titles.hpp"

namespace lipschitzlr::report {
namespace {

using experiment::format_percent;
using experiment::format_rate;
using experiment::Row;
using experiment::Spread;
using Format = std::string (*)(double);

struct PaperTable {
  const char *id, *title, *about;
};
constexpr PaperTable kTables[] = {
    {"table1", "Table 1: how fast, with 0.1 and with 1/L",
     "Iterations of gradient descent until the loss falls below a value. Ours are means over seeds, with the least and "
     "the most below; > means: not there yet when we stopped."},
    {"table2", "Table 2: how well, with 0.1 and with 1/L",
     "Accuracy after a number of epochs. Ours are means over seeds, with the least and the most below. In the rows of "
     "this table published and coded are one formula."},
    {"table3", "The big table: networks on images",
     "The paper prints the best of all epochs on the test set. Where ours has fewer epochs, the authors' own curve is "
     "read at the same epoch: that is what ours should be compared with."},
    {"comparison", "Comparison with other methods",
     "The paper quotes these figures from other papers, measured with other networks. Ours are trained on the paper's "
     "networks."},
    {"text", "What the text claims beside the tables",
     "Trainings that the paper mentions or whose histories its authors left, but that no table has."}};

std::string count_text(double count) {
  return count < 10 && count != std::round(count) ? fmt::format("{:.1f}", count) : format_count(count);
}

Cell paper_cell(double value, Format format) { return {format(value), value, kNoSource, ""}; }

Cell spread_cell(const Spread& spread, Format format, int source) {
  if (spread.count == 0) return word_cell("");
  if (!spread.complete) return {"> " + format(spread.most), spread.most, source, ""};
  Cell cell{format(spread.mean), spread.mean, source, ""};
  const std::string least = format(spread.least), most = format(spread.most);
  // "24–48", "94.99–96.47 %"
  if (least != most) cell.remark = fmt::format("{}–{}", least.substr(0, least.find(' ')), most);
  return cell;
}

std::vector<Column> columns_of(const experiment::Recipe& recipe) {
  if (recipe.network) {
    const std::string group = "best validation accuracy";
    return {{"", "data", false},   {"", "network", false}, {"", "algorithm", false},  {"", "policy", false},
            {"", "decay"},         {group, "paper"},       {group, "authors' curve"}, {group, "ours, published"},
            {group, "ours, coded"}};
  }
  const bool counts = recipe.linear->counts_iterations();
  const std::string figure = counts ? "iterations, rate " : "accuracy, rate ";
  return {{"", "data set", false},
          {"", counts ? "loss to reach" : "epochs"},
          {"1/L", "paper"},
          {"1/L", "ours, published"},
          {"1/L", "ours, coded"},
          {figure + "0.1", "paper"},
          {figure + "0.1", "ours"},
          {figure + "1/L", "paper"},
          {figure + "1/L", "ours, published"},
          {figure + "1/L", "ours, coded"},
          {"for comparison", "1/beta"}};
}

std::vector<Cell> linear_cells(const Row& row, int source) {
  const experiment::LinearTraining& training = *row.recipe.linear;
  const bool counts = training.counts_iterations();
  const Format format = counts ? count_text : format_percent;
  const auto rate = [&](const char* name) { return spread_cell(rate_of(row, name), format_rate, source); };
  const auto figure = [&](const char* name) {
    return spread_cell(counts ? iterations_of(row, name) : accuracy_of(row, name), format, source);
  };
  return {word_cell(row.recipe.title),
          paper_cell(counts ? *training.threshold : static_cast<double>(*training.epochs), format_rate),
          paper_cell(training.paper.rate, format_rate),
          rate("published"),
          rate("coded"),
          paper_cell(training.paper.baseline, format),
          figure("baseline"),
          paper_cell(training.paper.computed, format),
          figure("published"),
          figure("coded"),
          figure("gradient")};
}

Cell ours(const Row& row, const char* protocol, const Collection& collection) {
  const std::vector<const experiment::Run*> runs = runs_behind(row, protocol);
  if (runs.empty()) return word_cell("");
  const Spread best = accuracy_of(row, protocol);
  std::string remark = fmt::format("best of {}", counted(runs[0]->iterations, "epoch"));
  if (best.count > 1) remark += fmt::format(", {} seeds: {:.2f}–{:.2f}", best.count, best.least, best.most);
  return {format_percent(best.mean), best.mean, static_cast<int>(runs[0]->record - collection.records.data()), remark};
}

// At the epoch ours has reached; all of theirs when ours has not begun.
Cell authors(const Row& row) {
  const run::Record* const curve = experiment::authors_curve(row.recipe.network->curve);
  if (curve == nullptr) return word_cell("");
  std::size_t epochs = 0;
  for (const char* protocol : {"coded", "published"}) {
    const std::vector<const experiment::Run*> runs = runs_behind(row, protocol);
    if (epochs == 0 && !runs.empty()) epochs = std::min(runs[0]->record->length(), curve->length());
  }
  const bool all = epochs == 0 || epochs == curve->length();
  Cell cell =
      paper_cell(experiment::best_accuracy(*curve, all ? experiment::kAllEpochs : epochs).percent(), format_percent);
  if (!all) cell.remark = fmt::format("best of {}", counted(epochs, "epoch"));
  return cell;
}

std::vector<Cell> network_cells(const Row& row, const Collection& collection) {
  const experiment::NetworkTraining& training = *row.recipe.network;
  return {word_cell(data_title(training.data)),
          word_cell(training.paper_network.empty() ? network_title(training.network) : training.paper_network),
          word_cell(optimizer_title(training.optimizer)),
          word_cell(training.policy),
          {training.decay > 0 ? fmt::format("{}", training.decay) : "–", training.decay, kNoSource, ""},
          paper_cell(training.paper_accuracy, format_percent),
          authors(row),
          ours(row, "published", collection),
          ours(row, "coded", collection)};
}

TableRow row_of(const Row& row, const Collection& collection, Document& document) {
  TableRow made;
  made.id = row.recipe.id();
  if (!row.file.empty()) {
    made.sources = {static_cast<int>(document.sources.size())};
    document.sources.push_back({made.id, row.file, shell_command(row.command()), "complete", {}});
  }
  for (const experiment::Run& run : row.runs) {
    if (run.record != nullptr) made.sources.push_back(static_cast<int>(run.record - collection.records.data()));
  }
  made.cells = row.recipe.network ? network_cells(row, collection)
                                  : linear_cells(row, made.sources.empty() ? kNoSource : made.sources[0]);
  made.verdict = judge(row).text();
  made.reasons = notes_of(row);
  if (made.sources.empty()) made.hint = "lipschitzlr reproduce " + made.id;
  return made;
}

}  // namespace

void add_tables(const Collection& collection, const std::vector<Row>& rows, bool whole_paper, Document& document) {
  for (const PaperTable& paper : kTables) {
    Table table;
    table.id = paper.id;
    table.title = paper.title;
    table.about = paper.about;
    for (const Row& row : rows) {
      if (row.recipe.table != table.id) continue;
      if (table.columns.empty()) table.columns = columns_of(row.recipe);
      table.rows.push_back(row_of(row, collection, document));
    }
    const bool any =
        std::any_of(table.rows.begin(), table.rows.end(), [](const TableRow& row) { return !row.sources.empty(); });
    if (any || (whole_paper && !table.rows.empty())) document.tables.push_back(std::move(table));
  }
}

}  // namespace lipschitzlr::report
