#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "lipschitzlr/experiment/text_table.hpp"
#include "report/sections.hpp"
#include "report/titles.hpp"

namespace lipschitzlr::report {
namespace {

using run::Record;

Cell number_cell(double value, const std::string& text, int source) {
  return std::isfinite(value) ? Cell{text, value, source, ""} : word_cell("");
}

// Of a network that predicts numbers.
Cell best_r_squared(const std::vector<double>& values, int source) {
  double best = kNoNumber;
  for (const double value : values) best = std::fmax(best, value);
  Cell cell = number_cell(best, fmt::format("R^2 {:.4f}", best), source);
  cell.remark = fmt::format("last {:.4f}", values.back());
  return cell;
}

// The best of all epochs, as the paper gives it, and beside it the last one.
Cell best_accuracy(const Record& record, int source) {
  if (const std::vector<double>& r2 = record.column("val_r2"); !r2.empty()) return best_r_squared(r2, source);
  const experiment::Peak best = experiment::best_accuracy(record);
  if (best.epoch == 0) return word_cell("");
  Cell cell = number_cell(best.percent(), experiment::format_percent(best.percent()), source);
  cell.remark = fmt::format("last {}", experiment::format_percent(100 * record.column("val_accuracy").back()));
  return cell;
}

Cell epochs_cell(const Record& record, int source) {
  const auto done = static_cast<double>(record.epochs_done);
  Cell cell = number_cell(done, format_count(done), source);
  if (record.kind == run::RecordKind::network && record.number("epochs") > done) {
    cell.remark = fmt::format("of {}", record.number("epochs"));
  }
  return cell;
}

Cell loss_cell(const Record& record, int source) {
  Cell cell = number_cell(record.last_loss, fmt::format("{:.5g}", record.last_loss), source);
  cell.remark = record.verdict;
  return cell;
}

TableRow row_of(const Record& record, int source) {
  TableRow row;
  row.id = record.folder;
  const double seconds = record.seconds > 0 ? record.seconds : kNoNumber;
  row.cells = {{record.name(), kNoNumber, source, ""},
               word_cell(data_title(record.data())),
               word_cell(network_title(record.model())),
               word_cell(record.optimizer().empty() ? "" : label_of(record)),
               epochs_cell(record, source),
               best_accuracy(record, source),
               loss_cell(record, source),
               number_cell(seconds, format_duration(seconds), source)};
  row.verdict = to_string(record.state);
  row.reasons = record.faults;
  row.sources = {source};
  return row;
}

}  // namespace

void add_records(const Collection& collection, Document& document) {
  Table& table = document.runs;
  table.id = "runs";
  table.title = "Every record on this page";
  table.about = "A record that is missing, cut short or damaged says so; what could be read of it is used.";
  table.columns = {{"", "record", false}, {"", "data", false},   {"", "model", false}, {"", "method", false},
                   {"", "epochs"},        {"", "best accuracy"}, {"", "last loss"},    {"", "time"}};
  for (const Record& record : collection.records) {
    const int source = static_cast<int>(document.sources.size());
    document.sources.push_back(
        {record.name(), record.folder, shell_command(record.command), to_string(record.state), record.faults});
    table.rows.push_back(row_of(record, source));
  }
}

}  // namespace lipschitzlr::report
