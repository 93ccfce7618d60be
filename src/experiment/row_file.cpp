#include "experiment/row_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/collection.hpp"

namespace lipschitzlr::experiment {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

constexpr const char* kRates[] = {"baseline", "published", "coded", "certified", "gradient"};

Json spread_json(const Spread& spread) {
  return {{"least", spread.least}, {"mean", spread.mean}, {"most", spread.most}, {"complete", spread.complete}};
}

Json run_json(const Run& run, bool counts) {
  Json out{{"rate_name", run.rate_name},
           {"seed", run.seed},
           {"rate", run.rate},
           {"iterations", run.iterations},
           {"complete", run.complete},
           {"stop", to_string(run.stop)},
           {"loss", run.loss}};
  if (!counts) out["accuracy"] = run.accuracy;
  if (!run.epoch_accuracies.empty()) {
    out["last_accuracy"] = run.last_accuracy;
    out["epoch_losses"] = run.epoch_losses;
    out["epoch_accuracies"] = run.epoch_accuracies;
  }
  return out;
}

Json row_json(const Row& row) {
  const LinearTraining& training = *row.recipe.linear;
  const bool counts = training.counts_iterations();
  Json out{{"name", row.recipe.name}, {"title", row.recipe.title}, {"data_set", training.data}};
  if (counts) out["threshold"] = *training.threshold;
  if (!counts) out["epochs"] = row.epochs;
  out["paper"] = {{"rate", training.paper.rate},
                  {"baseline", training.paper.baseline},
                  {"computed", training.paper.computed},
                  {"rows", training.paper.rows}};
  out["absent"] = row.absent;
  out["out_of_time"] = row.out_of_time;
  out["interrupted"] = row.interrupted;
  if (row.runs.empty()) return out;
  out["rows"] = row.rows;
  out["seeds_done"] = row.seeds_done;
  out["zero_loss"] = row.zero_loss;
  out["naive_loss"] = row.naive_loss;
  if (!counts) {
    out["judged_on"] = row.judged_held_out_rows ? kHeldOut : "rows trained on";
    out["judged_rows"] = row.judged_rows;
    out["majority"] = row.majority;
  }
  for (const char* const name : kRates) {
    const Spread figure = counts ? iterations_of(row, name) : accuracy_of(row, name);
    if (figure.count == 0) continue;
    out["figures"][name] = {{"rate", spread_json(rate_of(row, name))},
                            {counts ? "iterations" : "percent", spread_json(figure)}};
  }
  for (const Run& run : row.runs) out["runs"].push_back(run_json(run, counts));
  return out;
}

// JSON has no number for what is not finite; it is written as null.
double number(const json& object, const char* key) {
  return object.contains(key) && object[key].is_null() ? NAN : number_or(object, key, 0);
}

bool flag(const json& object, const char* key) { return object.value(key, json()) == json(true); }

// Nothing in place of what has another type.
json list(const json& object, const char* key) {
  const json found = object.value(key, json());
  return found.is_array() ? found : json::array();
}

// None is well; false when there is something else than numbers.
bool read_numbers(const json& object, const char* key, std::vector<double>& numbers) {
  for (const json& value : list(object, key)) {
    if (!value.is_number() && !value.is_null()) return false;
    numbers.push_back(value.is_null() ? NAN : value.get<double>());
  }
  return true;
}

// False when it can't be read.
bool read_run(const json& object, Run& run) {
  if (!object.is_object()) return false;
  run.rate_name = text_or(object, "rate_name");
  run.seed = static_cast<std::uint64_t>(whole_or(object, "seed", 0));
  run.rate = number(object, "rate");
  run.iterations = whole_or(object, "iterations", -1);
  run.complete = flag(object, "complete");
  run.loss = number(object, "loss");
  run.accuracy = number(object, "accuracy");
  run.last_accuracy = object.contains("last_accuracy") ? number(object, "last_accuracy") : run.accuracy;
  if (!read_numbers(object, "epoch_losses", run.epoch_losses)) return false;
  if (!read_numbers(object, "epoch_accuracies", run.epoch_accuracies)) return false;
  for (int i = 0; i <= static_cast<int>(linear::Stop::not_finite); ++i) {
    run.stop = static_cast<linear::Stop>(i);
    if (to_string(run.stop) == text_or(object, "stop")) return !run.rate_name.empty() && run.iterations >= 0;
  }
  return false;
}

Row read_row(const json& object, const json& file) {
  Row row;
  row.recipe.table = text_or(file, "table");
  row.recipe.name = text_or(object, "name");
  row.seeds = static_cast<int>(whole_or(file, "seeds", 0));
  row.max_iterations = whole_or(file, "max_iterations", 0);
  row.epochs = whole_or(object, "epochs", 0);
  for (const json& set : list(object, "absent")) {
    if (set.is_string()) row.absent.push_back(set.get<std::string>());
  }
  for (const json& run : list(object, "runs")) {
    if (!read_run(run, row.runs.emplace_back())) {
      row.runs.pop_back();
      row.damaged = true;
    }
  }
  row.out_of_time = flag(object, "out_of_time");
  row.interrupted = flag(object, "interrupted");
  row.seeds_done = static_cast<int>(whole_or(object, "seeds_done", 0));
  row.rows = whole_or(object, "rows", 0);
  row.zero_loss = number(object, "zero_loss");
  row.naive_loss = number(object, "naive_loss");
  row.majority = number(object, "majority");
  row.judged_rows = whole_or(object, "judged_rows", 0);
  row.judged_held_out_rows = text_or(object, "judged_on") == kHeldOut;
  return row;
}

json parsed(const std::string& path, RowFile& file) {
  try {
    return parse_json(read_file(path), "");
  } catch (const Error& error) {
    const bool unreadable = std::string_view(error.what()).starts_with(path);
    file.faults.push_back(fmt::format("The file {}; what `reproduce table1 --json` prints is read.",
                                      unreadable ? "can't be read" : error.what()));
    return nullptr;
  }
}

}  // namespace

RowFile read_row_file(const std::string& path) {
  RowFile file;
  const json whole = parsed(path, file);
  if (!file.faults.empty()) return file;
  if (!whole.is_object() || !whole.contains("table") || !whole.contains("rows") || !whole["rows"].is_array()) {
    file.something_else = true;
    file.faults.push_back("The file is not what `lipschitzlr reproduce table1 --json` prints.");
    return file;
  }
  for (const json& row : whole["rows"]) {
    if (!row.is_object()) continue;
    file.rows.push_back(read_row(row, whole));
    file.rows.back().file = path;
    if (!file.rows.back().damaged) continue;
    file.faults.push_back(
        fmt::format("Trainings of the row {} can't be read; the others are shown.", file.rows.back().recipe.name));
  }
  if (file.rows.empty()) file.faults.push_back("The file has no rows.");
  return file;
}

Json table_json(const std::vector<Row>& rows) {
  Json out{{"version", 1},
           {"table", rows[0].recipe.table},
           {"seeds", rows[0].seeds},
           {"max_iterations", rows[0].max_iterations},
           {"rows", Json::array()}};
  for (const Row& row : rows) out["rows"].push_back(row_json(row));
  return out;
}

}  // namespace lipschitzlr::experiment
