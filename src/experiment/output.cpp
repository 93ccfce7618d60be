#include "lipschitzlr/experiment/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiment/grid.hpp"
#include "lipschitzlr/experiment/network_output.hpp"
#include "lipschitzlr/experiment/setting.hpp"
#include "lipschitzlr/experiment/verdict.hpp"

namespace lipschitzlr::experiment {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

// One row takes a line with the means over the seeds and, where they differ, two more with the least and the most.
enum class Line { mean, least, most };

double pick(const Spread& spread, Line line) {
  return line == Line::mean ? spread.mean : line == Line::least ? spread.least : spread.most;
}

// An average over trainings of which some were cut short would be no average: then only the bound is given.
std::string iterations_cell(const Spread& spread, Line line) {
  if (spread.count == 0) return line == Line::mean ? "-" : "";
  if (spread.diverged) return line == Line::mean ? "diverged" : "";
  if (!spread.complete) return line == Line::mean ? fmt::format(">{:.0f}", spread.most) : "";
  if (line != Line::mean && spread.least == spread.most) return "";
  const double value = pick(spread, line);
  return value < 10 && value != std::round(value) ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string accuracy_cell(const Spread& spread, Line line) {
  if (spread.count == 0) return line == Line::mean ? "-" : "";
  if (line != Line::mean && spread.least == spread.most) return "";
  return fmt::format("{:.2f}{}", pick(spread, line), spread.complete ? "" : "*");
}

std::string rate_cell(const Spread& spread, Line line) {
  if (spread.count == 0) return line == Line::mean ? "-" : "";
  if (line != Line::mean && spread.least == spread.most) return "";
  return format_rate(pick(spread, line));
}

Cells count_cells(const RowResult& result, Line line) {
  const Recipe& recipe = result.recipe;
  const bool mean = line == Line::mean;
  const auto only = [&](const std::string& cell) { return mean ? cell : ""; };
  return {mean                  ? recipe.name
          : line == Line::least ? "  least"
                                : "  most",
          only(format_rate(*recipe.training.threshold)),
          only(format_rate(recipe.paper.rate)),
          rate_cell(rate_of(result, "published"), line),
          rate_cell(rate_of(result, "coded"), line),
          only(fmt::format("{:.0f}", recipe.paper.baseline)),
          iterations_cell(iterations_of(result, "baseline"), line),
          only(fmt::format("{:.0f}", recipe.paper.computed)),
          iterations_cell(iterations_of(result, "published"), line),
          iterations_cell(iterations_of(result, "coded"), line),
          iterations_cell(iterations_of(result, "gradient"), line),
          only(judge(result).word)};
}

Cells accuracy_cells(const RowResult& result, Line line) {
  const Recipe& recipe = result.recipe;
  const bool mean = line == Line::mean;
  const auto only = [&](const std::string& cell) { return mean ? cell : ""; };
  return {mean                  ? recipe.name
          : line == Line::least ? "  least"
                                : "  most",
          only(fmt::format("{}", *recipe.training.epochs)),
          only(format_rate(recipe.paper.rate)),
          rate_cell(rate_of(result, "coded"), line),
          only(fmt::format("{:.2f}", recipe.paper.baseline)),
          accuracy_cell(accuracy_of(result, "baseline"), line),
          only(fmt::format("{:.2f}", recipe.paper.computed)),
          accuracy_cell(accuracy_of(result, "coded"), line),
          accuracy_cell(accuracy_of(result, "certified"), line),
          accuracy_cell(accuracy_of(result, "gradient"), line),
          only(result.runs.empty() ? "-" : fmt::format("{:.2f}", 100 * result.majority)),
          only(judge(result).word)};
}

std::vector<Column> count_columns() {
  return {{"", "data set", true}, {"", "T"},          {"1/L", "paper"},  {"1/L", "publ."},
          {"1/L", "coded"},       {"E 0.1", "paper"}, {"E 0.1", "ours"}, {"E 1/L", "paper"},
          {"E 1/L", "publ."},     {"E 1/L", "coded"}, {"", "1/beta"},    {"", "verdict", true}};
}

std::vector<Column> accuracy_columns() {
  return {{"", "data set", true},
          {"", "N_E"},
          {"1/L", "paper"},
          {"1/L", "ours"},
          {"A 0.1", "paper"},
          {"A 0.1", "ours"},
          {"A 1/L", "paper"},
          {"A 1/L", "ours"},
          {"A for comparison", "certif."},
          {"A for comparison", "1/beta"},
          {"", "majority"},
          {"", "verdict", true}};
}

std::string legend(bool counts, const RunLimits& limits) {
  const std::string seeds =
      fmt::format("Ours: mean of {}, then the least and the most where they differ.", counted(limits.seeds, "seed"));
  if (!counts) {
    return wrap("", seeds +
                        " A: accuracy in percent after N_E epochs with the rate 0.1, with 1/L, with 1/L certified, "
                        "with 1/beta; *: fewer epochs were done. majority: the share of the largest class.");
  }
  return wrap("",
              fmt::format("{} E: measurements of the loss until it is below T, with the rate 0.1, with 1/L as "
                          "published and as coded, and with 1/beta. >N: not below T after N (the limits are {} and, "
                          "for 1/beta, {}).",
                          seeds, format_count(static_cast<double>(limits.max_iterations)),
                          format_count(static_cast<double>(std::min(limits.max_iterations, kComparisonIterations)))));
}

Cells notes_of(const RowResult& result) {
  Cells notes = judge(result).reasons;
  const std::optional<std::int64_t>& epochs = result.recipe.training.epochs;
  const bool shortened = epochs && result.epochs != *epochs;
  if (shortened && !result.runs.empty()) {
    notes.push_back(
        fmt::format("{} asked for with --epochs; the paper's row has {}.", counted(result.epochs, "epoch"), *epochs));
  }
  if ((result.out_of_time || result.interrupted) && !result.runs.empty()) {
    notes.push_back(fmt::format("{}: what was running was cut short, after {}.",
                                result.interrupted ? "Interrupted" : "The time was up",
                                counted(result.seeds_done, "whole seed")));
  }
  notes.insert(notes.end(), result.recipe.caveats.begin(), result.recipe.caveats.end());
  return notes;
}

Json spread_json(const Spread& spread) {
  return {{"least", spread.least}, {"mean", spread.mean}, {"most", spread.most}, {"complete", spread.complete}};
}

Json run_json(const Run& run, bool counts) {
  Json json{{"rate_name", run.rate_name},
            {"seed", run.seed},
            {"rate", run.rate},
            {"iterations", run.iterations},
            {"complete", run.complete},
            {"stop", to_string(run.stop)},
            {"loss", run.loss}};
  if (!counts) json["accuracy"] = run.accuracy;
  return json;
}

Json paper_json(const Recipe& recipe) {
  return {{"rate", recipe.paper.rate},
          {"baseline", recipe.paper.baseline},
          {"computed", recipe.paper.computed},
          {"rows", recipe.paper.rows}};
}

Json row_json(const RowResult& result) {
  const Recipe& recipe = result.recipe;
  const bool counts = recipe.counts_iterations();
  Json json{{"name", recipe.name}, {"title", recipe.title}, {"data_set", recipe.data.set}};
  if (counts) json["threshold"] = *recipe.training.threshold;
  if (!counts) json["epochs"] = result.epochs;
  json["paper"] = paper_json(recipe);
  json["verdict"] = judge(result).word;
  json["notes"] = notes_of(result);
  json["absent"] = result.absent;
  json["out_of_time"] = result.out_of_time;
  json["interrupted"] = result.interrupted;
  if (result.runs.empty()) return json;
  json["rows"] = result.rows;
  json["seeds_done"] = result.seeds_done;
  json["zero_loss"] = result.zero_loss;
  json["naive_loss"] = result.naive_loss;
  if (!counts) {
    json["judged_on"] = result.judged_held_out_rows ? kHeldOut : "rows trained on";
    json["judged_rows"] = result.judged_rows;
    json["majority"] = result.majority;
  }
  for (const std::string name : {"baseline", "published", "coded", "certified", "gradient"}) {
    const Spread figure = counts ? iterations_of(result, name) : accuracy_of(result, name);
    if (figure.count == 0) continue;
    json["figures"][name] = {{"rate", spread_json(rate_of(result, name))},
                             {counts ? "iterations" : "percent", spread_json(figure)}};
  }
  for (const Run& run : result.runs) json["runs"].push_back(run_json(run, counts));
  return json;
}

std::string goal_text(const Recipe& recipe) {
  return recipe.counts_iterations() ? fmt::format("loss < {:.8g}", *recipe.training.threshold)
                                    : fmt::format("{} epochs", *recipe.training.epochs);
}

}  // namespace

std::string to_text(const std::vector<RowResult>& results, const RunLimits& limits) {
  if (results.empty()) return "";
  const bool counts = results[0].recipe.counts_iterations();
  const auto cells_of = counts ? count_cells : accuracy_cells;
  std::vector<Cells> lines;
  for (const RowResult& result : results) {
    lines.push_back(cells_of(result, Line::mean));
    for (const Line line : {Line::least, Line::most}) {
      const Cells cells = cells_of(result, line);
      const bool says_something =
          std::any_of(cells.begin() + 1, cells.end(), [](const auto& cell) { return cell != ""; });
      if (says_something) lines.push_back(cells);
    }
  }
  std::string text = draw_grid(counts ? count_columns() : accuracy_columns(), lines) + "\n" + legend(counts, limits);
  for (const RowResult& result : results) {
    text += fmt::format("\n{} ({}): {}\n", result.recipe.name, result.recipe.title, judge(result).word);
    int number = 0;
    for (const std::string& note : notes_of(result)) text += wrap(fmt::format("  {}. ", ++number), note);
  }
  return text;
}

std::string to_json(const std::vector<RowResult>& results, const RunLimits& limits) {
  Json json;
  json["table"] = results.empty() ? "" : results[0].recipe.table;
  json["seeds"] = limits.seeds;
  json["max_iterations"] = limits.max_iterations;
  json["rows"] = Json::array();
  for (const RowResult& result : results) json["rows"].push_back(row_json(result));
  return json.dump(2) + "\n";
}

std::string to_csv(const std::vector<RowResult>& results) {
  std::string text = "table,row,seed,rate_name,rate,iterations,complete,loss,accuracy,paper,verdict\n";
  for (const RowResult& result : results) {
    const Recipe& recipe = result.recipe;
    const std::string word = judge(result).word;
    if (result.runs.empty()) text += fmt::format("{},{},,,,,,,,,{}\n", recipe.table, recipe.name, word);
    for (const Run& run : result.runs) {
      const double paper = run.rate_name == "baseline" ? recipe.paper.baseline : recipe.paper.computed;
      const bool in_paper = run.rate_name == "baseline" || run.rate_name == "published" || run.rate_name == "coded";
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", recipe.table, recipe.name, run.seed, run.rate_name,
                          run.rate, run.iterations, run.complete, run.loss,
                          recipe.counts_iterations() ? "" : fmt::format("{}", run.accuracy),
                          in_paper ? fmt::format("{}", paper) : "", word);
    }
  }
  return text;
}

std::string list_text(const std::string& records) {
  std::vector<Cells> lines;
  for (const Recipe& recipe : recipes()) {
    const bool counts = recipe.counts_iterations();
    const auto figure = [&](double value) { return counts ? format_count(value) : format_percent(value); };
    lines.push_back({recipe.table, recipe.name, recipe.title, goal_text(recipe), format_rate(recipe.paper.rate),
                     figure(recipe.paper.baseline), figure(recipe.paper.computed),
                     absent_sets(recipe).empty() ? "yes" : "no"});
  }
  return draw_grid({{"", "table", true},
                    {"", "row", true},
                    {"", "title", true},
                    {"", "goal", true},
                    {"the paper", "1/L"},
                    {"the paper", "at 0.1"},
                    {"the paper", "at 1/L"},
                    {"", "here", true}},
                   lines) +
         network_list_text(run::read_network_records(records));
}

std::string list_json(const std::string& records) {
  Json json = Json::array();
  for (const Recipe& recipe : recipes()) {
    json.push_back({{"table", recipe.table},
                    {"name", recipe.name},
                    {"id", recipe.id()},
                    {"title", recipe.title},
                    {"data_set", recipe.data.set},
                    {"goal", goal_text(recipe)},
                    {"paper", paper_json(recipe)},
                    {"absent", absent_sets(recipe)},
                    {"caveats", recipe.caveats}});
  }
  for (const Json& row : Json::parse(network_list_json(run::read_network_records(records)))) json.push_back(row);
  return json.dump(2) + "\n";
}

}  // namespace lipschitzlr::experiment
