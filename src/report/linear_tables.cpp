#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/text.hpp"
#include "experiment/grid.hpp"
#include "lipschitzlr/experiment/recipe.hpp"
#include "lipschitzlr/experiment/setting.hpp"
#include "report/parts.hpp"

namespace lipschitzlr::report {
namespace {

using experiment::Recipe;
using Format = std::string (*)(double);

// A row of a file, with the file it stands in.
struct Found {
  const TableRecord* file = nullptr;
  const TableRow* row = nullptr;
};

// The last file that measured the row; when none did, the last that names it.
Found find_row(const Collection& collection, const Recipe& recipe) {
  Found found;
  for (const TableRecord& file : collection.tables) {
    if (file.table != recipe.table) continue;
    for (const TableRow& row : file.rows) {
      const bool measured = !row.figures.empty();
      if (row.name == recipe.name && (found.row == nullptr || measured || found.row->figures.empty())) {
        found = {&file, &row};
      }
    }
  }
  return found;
}

Cell paper_cell(double value, Format format) { return {format(value), value, kNoSource, ""}; }

Cell range_cell(const std::map<std::string, Range>& ranges, const std::string& name, Format format, int source) {
  const auto found = ranges.find(name);
  if (found == ranges.end()) return {"–", kNoNumber, kNoSource, ""};
  const Range& range = found->second;
  if (!range.complete) return {"> " + format(range.most), range.most, source, ""};
  Cell cell{format(range.mean), range.mean, source, ""};
  const std::string least = format(range.least), most = format(range.most);
  // "24–48", "94.99–96.47 %"
  const std::string number = least.substr(0, least.find(' '));
  if (least != most) cell.remark = fmt::format("{}–{}", number, most);
  return cell;
}

std::vector<Column> columns_of(bool counts) {
  const std::string baseline = counts ? "iterations, rate 0.1" : "accuracy, rate 0.1";
  const std::string computed = counts ? "iterations, rate 1/L" : "accuracy, rate 1/L";
  return {{"", "data set", false},
          {"", counts ? "loss to reach" : "epochs"},
          {"1/L", "paper"},
          {"1/L", "ours, published"},
          {"1/L", "ours, coded"},
          {baseline, "paper"},
          {baseline, "ours"},
          {computed, "paper"},
          {computed, "ours, published"},
          {computed, "ours, coded"},
          {"for comparison", "1/beta"}};
}

std::string count_text(double count) {
  return count < 10 && count != std::round(count) ? fmt::format("{:.1f}", count) : format_count(count);
}

std::vector<Cell> cells_of(const Recipe& recipe, const TableRow& row, int source) {
  const bool counts = recipe.counts_iterations();
  const Format figure = counts ? count_text : experiment::format_percent;
  const double goal = counts ? *recipe.training.threshold : static_cast<double>(*recipe.training.epochs);
  return {{recipe.title, kNoNumber, kNoSource, ""},
          paper_cell(goal, experiment::format_rate),
          paper_cell(recipe.paper.rate, experiment::format_rate),
          range_cell(row.rates, "published", experiment::format_rate, source),
          range_cell(row.rates, "coded", experiment::format_rate, source),
          paper_cell(recipe.paper.baseline, figure),
          range_cell(row.figures, "baseline", figure, source),
          paper_cell(recipe.paper.computed, figure),
          range_cell(row.figures, "published", figure, source),
          range_cell(row.figures, "coded", figure, source),
          range_cell(row.figures, "gradient", figure, source)};
}

void judge_absent(const Recipe& recipe, Row& row) {
  const std::vector<std::string> absent = experiment::absent_sets(recipe);
  row.verdict = absent.empty() ? "not run" : "not at hand";
  row.reasons = {absent.empty() ? "Not run yet: no file given here has this row."
                                : fmt::format("Get the data first: lipschitzlr data get {}", fmt::join(absent, " "))};
  row.hint = fmt::format("lipschitzlr reproduce {} {}", recipe.table, recipe.name);
}

Row make_row(const Recipe& recipe, const Found& found, Document& document) {
  Row row;
  row.id = recipe.id();
  if (found.row == nullptr) {
    row.cells = cells_of(recipe, {}, kNoSource);
    judge_absent(recipe, row);
    return row;
  }
  const int source = static_cast<int>(document.sources.size());
  document.sources.push_back({recipe.id(), found.file->path, found.file->command(*found.row), "complete", {}});
  row.sources = {source};
  row.cells = cells_of(recipe, *found.row, source);
  row.verdict = found.row->verdict;
  row.reasons = found.row->notes;
  if (row.verdict == "reproduced") {
    row.reasons.insert(
        row.reasons.begin(),
        "Reproduced: every figure of the paper lies within ours over the seeds and the tolerances of the rules.");
  }
  return row;
}

}  // namespace

void add_linear_tables(const Collection& collection, bool whole_paper, Document& document) {
  for (const std::string id : {"table1", "table2"}) {
    const bool counts = id == "table1";
    Table table;
    table.id = id;
    table.title = counts ? "Table 1: how fast, with 0.1 and with 1/L" : "Table 2: how well, with 0.1 and with 1/L";
    table.about = counts ? "Iterations of gradient descent until the loss falls below a value. Ours are means over "
                           "seeds, with the least and the most below; > means: not there yet when we stopped."
                         : "Accuracy after a number of epochs. Ours are means over seeds, with the least and the most "
                           "below. In the rows of this table published and coded are one formula.";
    table.columns = columns_of(counts);
    bool any = whole_paper;
    for (const Recipe& recipe : experiment::recipes()) {
      if (recipe.table != id) continue;
      const Found found = find_row(collection, recipe);
      any |= found.row != nullptr;
      table.rows.push_back(make_row(recipe, found, document));
    }
    if (any) document.tables.push_back(std::move(table));
  }
}

}  // namespace lipschitzlr::report
