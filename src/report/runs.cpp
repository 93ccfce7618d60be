#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "experiment/grid.hpp"
#include "report/parts.hpp"
#include "report/words.hpp"

namespace lipschitzlr::report {
namespace {

Cell number_cell(double value, const std::string& text, int source) {
  if (!std::isfinite(value)) return {"–", kNoNumber, kNoSource, ""};
  return {text, value, source, ""};
}

// The best of all epochs, as the paper gives it, and beside it the last one.
Cell best_accuracy(const RunRecord& run, int source) {
  const std::vector<double>& accuracy = run.curve("val_accuracy");
  if (accuracy.empty()) return number_cell(kNoNumber, "", source);
  const double best = 100 * *std::max_element(accuracy.begin(), accuracy.end());
  Cell cell = number_cell(best, experiment::format_percent(best), source);
  cell.remark = fmt::format("last {}", experiment::format_percent(100 * accuracy.back()));
  return cell;
}

Cell epochs_cell(const RunRecord& run, int source) {
  const auto done = static_cast<double>(run.epochs_done);
  Cell cell = number_cell(done, format_count(done), source);
  if (run.epochs_asked > run.epochs_done) cell.remark = fmt::format("of {}", run.epochs_asked);
  return cell;
}

double seconds_of(const RunRecord& run) {
  if (run.seconds > 0) return run.seconds;
  double sum = 0;
  for (const char* column : {"train_seconds", "measure_seconds", "validate_seconds"}) {
    for (const double seconds : run.curve(column)) sum += std::isfinite(seconds) ? seconds : 0;
  }
  return sum > 0 ? sum : kNoNumber;
}

Row run_row(const RunRecord& run, int source) {
  const double seconds = seconds_of(run);
  const auto word = [](const std::string& text) { return Cell{text.empty() ? "–" : text, kNoNumber, kNoSource, ""}; };
  Row row;
  row.id = run.folder;
  Cell name = word(run.name());
  name.source = source;
  row.cells = {name,
               word(data_title(run.data)),
               word(network_title(run.model)),
               word(run.optimizer.empty() ? "" : label_of(run)),
               epochs_cell(run, source),
               best_accuracy(run, source),
               number_cell(run.last_loss, fmt::format("{:.5g}", run.last_loss), source),
               number_cell(seconds, std::isfinite(seconds) ? format_duration(seconds) : "", source)};
  row.verdict = to_string(run.state);
  row.reasons = run.faults;
  row.sources = {source};
  return row;
}

}  // namespace

void add_runs(const Collection& collection, Document& document) {
  Table& table = document.runs;
  table.id = "runs";
  table.title = "Every record on this page";
  table.about =
      "Click a heading to sort. A record that is missing, cut short or damaged says so; what could be read of it is "
      "used.";
  table.columns = {{"", "record", false}, {"", "data", false},   {"", "model", false}, {"", "method", false},
                   {"", "epochs"},        {"", "best accuracy"}, {"", "last loss"},    {"", "time"}};
  for (const RunRecord& run : collection.runs) {
    const int source = static_cast<int>(document.sources.size());
    document.sources.push_back({run.name(), run.folder, run.command, to_string(run.state), run.faults});
    table.rows.push_back(run_row(run, source));
  }
  for (const TableRecord& file : collection.tables) {
    if (file.faults.empty()) continue;
    Row row;
    row.id = file.path;
    row.cells.assign(table.columns.size(), {"–", kNoNumber, kNoSource, ""});
    row.cells[0] = {file.path, kNoNumber, static_cast<int>(document.sources.size()), ""};
    row.verdict = "damaged";
    row.reasons = file.faults;
    row.sources = {static_cast<int>(document.sources.size())};
    document.sources.push_back({file.path, file.path, "", "damaged", file.faults});
    table.rows.push_back(row);
  }
}

}  // namespace lipschitzlr::report
