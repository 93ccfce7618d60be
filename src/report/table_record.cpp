#include "lipschitzlr/report/table_record.hpp"

#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/runner.hpp"
#include "lipschitzlr/report/run_record.hpp"
#include "report/reading.hpp"

namespace lipschitzlr::report {
namespace {

using nlohmann::json;

Range range_from(const json& object) {
  Range range;
  range.least = number_of(object, "least", 0);
  range.mean = number_of(object, "mean", 0);
  range.most = number_of(object, "most", 0);
  range.complete = object.value("complete", json(true)) != json(false);
  return range;
}

// Nothing in place of what has another type.
json part_of(const json& object, const char* key, const json& nothing) {
  const json part = object.value(key, nothing);
  return part.type() == nothing.type() ? part : nothing;
}

TableRow row_from(const json& object) {
  TableRow row;
  row.name = text_of(object, "name");
  row.verdict = text_of(object, "verdict");
  row.majority = number_of(object, "majority", 0);
  row.epochs = whole_of(object, "epochs");
  for (const json& note : part_of(object, "notes", json::array())) {
    if (note.is_string()) row.notes.push_back(note.get<std::string>());
  }
  const json figures = part_of(object, "figures", json::object());
  for (const auto& [rate_name, figure] : figures.items()) {
    if (!figure.is_object()) continue;
    const auto range_of = [&](const char* unit, std::map<std::string, Range>& ranges) {
      const json range = figure.value(unit, json());
      if (range.is_object()) ranges[rate_name] = range_from(range);
    };
    range_of("rate", row.rates);
    range_of("iterations", row.figures);
    range_of("percent", row.figures);
  }
  return row;
}

}  // namespace

TableRecord read_table_record(const std::string& path) {
  TableRecord record;
  record.path = path;
  Parsed parsed;
  try {
    parsed = parse(read_file(path));
  } catch (const Error&) {
    parsed.fault = "can't be read";
  }
  const json& whole = parsed.value;
  if (!parsed.fault.empty()) {
    record.faults.push_back(fmt::format("The file {}; what `reproduce table1 --json` prints is read.", parsed.fault));
  } else if (!whole.is_object() || !whole.contains("table") || !whole.contains("rows") || !whole["rows"].is_array()) {
    record.something_else = true;
    record.faults.push_back("The file is not what `lipschitzlr reproduce table1 --json` prints.");
  } else {
    record.table = text_of(whole, "table");
    record.seeds = whole_of(whole, "seeds");
    record.max_iterations = whole_of(whole, "max_iterations");
    for (const json& row : whole["rows"]) {
      if (row.is_object()) record.rows.push_back(row_from(row));
    }
    if (record.rows.empty()) record.faults.push_back("The file has no rows.");
  }
  return record;
}

std::string TableRecord::command(const TableRow& row) const {
  std::vector<std::string> words = {"reproduce", table, row.name, "--seeds", fmt::format("{}", seeds)};
  const experiment::RunLimits defaults;
  if (table == "table1" && max_iterations > 0 && max_iterations != defaults.max_iterations) {
    words.insert(words.end(), {"--max-iterations", fmt::format("{}", max_iterations)});
  }
  if (row.epochs > 0) words.insert(words.end(), {"--epochs", fmt::format("{}", row.epochs)});
  return shell_command(words);
}

}  // namespace lipschitzlr::report
