#include "lipschitzlr/experiment/row_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/output.hpp"

namespace lipschitzlr::experiment {
namespace {

using nlohmann::json;

// JSON has no number for what is not finite; it is written as null.
double number(const json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

linear::Stop stop_from(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(linear::Stop::not_finite); ++i) {
    if (to_string(static_cast<linear::Stop>(i)) == text) return static_cast<linear::Stop>(i);
  }
  throw Error(Fault::data, fmt::format("\"{}\" is no end of a training", text));
}

Run run_from(const json& object) {
  Run run;
  run.rate_name = object.at("rate_name");
  run.seed = object.at("seed");
  run.rate = number(object.at("rate"));
  run.iterations = object.at("iterations");
  run.complete = object.at("complete");
  run.stop = stop_from(object.at("stop"));
  run.loss = number(object.at("loss"));
  run.accuracy = object.value("accuracy", 0.0);
  return run;
}

RowResult row_from(const json& object, const Recipe& recipe) {
  RowResult result;
  result.recipe = recipe;
  for (const json& run : object.at("runs")) result.runs.push_back(run_from(run));
  result.out_of_time = object.at("out_of_time");
  result.interrupted = object.at("interrupted");
  result.seeds_done = object.at("seeds_done");
  result.epochs = object.value("epochs", std::int64_t{0});
  result.rows = object.at("rows");
  result.zero_loss = number(object.at("zero_loss"));
  result.naive_loss = number(object.at("naive_loss"));
  if (!recipe.counts_iterations()) {
    result.majority = object.at("majority");
    result.judged_rows = object.at("judged_rows");
    result.judged_held_out_rows = object.at("judged_on") == kHeldOut;
  }
  return result;
}

// More seeds than asked for hold those asked for.
void keep_seeds(RowResult& result, int seeds) {
  std::erase_if(result.runs, [&](const Run& run) { return run.seed > static_cast<std::uint64_t>(seeds); });
  if (result.seeds_done < seeds) return;
  result.seeds_done = seeds;
  result.out_of_time = result.interrupted = false;
}

}  // namespace

std::string row_record(const std::string& folder, const Recipe& recipe) {
  return fmt::format("{}/{}-{}.json", folder, recipe.table, recipe.name);
}

std::optional<RowResult> read_row(const std::string& folder, const Recipe& recipe, const RunLimits& limits) {
  try {
    const json whole = json::parse(read_file(row_record(folder, recipe)));
    const json& row = whole.at("rows").at(0);
    const bool same = whole.at("table") == recipe.table && row.at("name") == recipe.name &&
                      whole.at("seeds") >= limits.seeds &&
                      (!recipe.counts_iterations() || whole.at("max_iterations") == limits.max_iterations) &&
                      (recipe.counts_iterations() || row.at("epochs") == epochs_of(recipe, limits));
    if (!same) return {};
    RowResult result = row_from(row, recipe);
    keep_seeds(result, limits.seeds);
    return result;
  } catch (const json::exception&) {
  } catch (const Error&) {
  }
  return {};
}

void write_row(const std::string& folder, const RowResult& result, const RunLimits& limits) {
  std::filesystem::create_directories(folder);
  write_file_atomically(row_record(folder, result.recipe), to_json({result}, limits));
}

}  // namespace lipschitzlr::experiment
