// What there is to run, how far records got, and how long the rest would take.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "experiment/output_json.hpp"
#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/experiment/text_table.hpp"

namespace lipschitzlr::experiment {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::vector<std::string>>;

std::string goal_text(const Recipe& recipe) {
  if (recipe.network) return counted(recipe.network->epochs, "epoch");
  return recipe.linear->counts_iterations() ? fmt::format("loss < {:.8g}", *recipe.linear->threshold)
                                            : fmt::format("{} epochs", *recipe.linear->epochs);
}

std::int64_t epochs_done(const Row& row) {
  std::int64_t most = 0;
  for (const Run& run : row.runs) most = std::max(most, run.iterations);
  return most;
}

}  // namespace

Json recipe_json(const Recipe& recipe) {
  Json json{{"table", recipe.table}, {"name", recipe.name},       {"id", recipe.id()},
            {"title", recipe.title}, {"data_set", recipe.data()}, {"goal", goal_text(recipe)}};
  if (recipe.linear) {
    const LinearTraining::Paper& paper = recipe.linear->paper;
    json["paper"] = {
        {"rate", paper.rate}, {"baseline", paper.baseline}, {"computed", paper.computed}, {"rows", paper.rows}};
    return json;
  }
  const NetworkTraining& training = *recipe.network;
  json["network"] = training.network;
  json["optimizer"] = training.optimizer;
  json["policy"] = training.policy;
  json["decay"] = training.decay;
  json["paper"] = {{"accuracy", training.paper_accuracy}};
  json["curve"] = training.curve;
  return json;
}

Json runs_json(const Row& row, const std::string& protocol) {
  Json list = Json::array();
  for (const Run& run : row.runs) {
    if (run.rate_name != protocol) continue;
    list.push_back({{"folder", run.record->folder},
                    {"seed", std::to_string(run.seed)},
                    {"epochs", run.iterations},
                    {"best", 100 * run.accuracy},
                    {"best_epoch", best_accuracy(*run.record).epoch},
                    {"last", 100 * run.last_accuracy}});
  }
  return list;
}

std::string list_text(const std::vector<Row>& rows) {
  Lines linear, networks;
  for (const Row& row : rows) {
    const Recipe& recipe = row.recipe;
    const std::string here = absent_sets(recipe).empty() ? "yes" : "no";
    if (recipe.linear) {
      const LinearTraining::Paper& paper = recipe.linear->paper;
      const auto figure = recipe.linear->counts_iterations() ? format_count : format_percent;
      linear.push_back({recipe.table, recipe.name, recipe.title, goal_text(recipe), format_rate(paper.rate),
                        figure(paper.baseline), figure(paper.computed), here});
    } else {
      const std::int64_t epochs = epochs_done(row);
      networks.push_back({recipe.table, recipe.name, goal_text(recipe), format_percent(recipe.network->paper_accuracy),
                          recipe.network->curve.empty() ? "no" : "yes", here,
                          epochs == 0 ? "-" : counted(epochs, "epoch")});
    }
  }
  return draw_table({{"", "table", true},
                     {"", "row", true},
                     {"", "title", true},
                     {"", "goal", true},
                     {"the paper", "1/L"},
                     {"the paper", "at 0.1"},
                     {"the paper", "at 1/L"},
                     {"", "here", true}},
                    linear) +
         draw_table({{"", "table", true},
                     {"", "row", true},
                     {"", "goal"},
                     {"", "the paper"},
                     {"", "curve", true},
                     {"", "here", true},
                     {"", "record"}},
                    networks);
}

std::string list_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    const Recipe& recipe = row.recipe;
    Json json = recipe_json(recipe);
    json["absent"] = absent_sets(recipe);
    json["caveats"] = recipe.caveats;
    if (recipe.network) {
      json["artefacts"] = recipe.artefacts;
      json["records"] = Json::array();
      for (const std::string& protocol : recipe.protocols) {
        std::vector<std::string> command = train_options(recipe, protocol);
        command.insert(command.begin(), "train");
        command.insert(command.end(), {"--epochs", std::to_string(recipe.network->epochs)});
        json["commands"][protocol] = command;
        for (const Json& record : runs_json(row, protocol)) json["records"].push_back(record);
      }
    }
    list.push_back(json);
  }
  return list.dump(2) + "\n";
}

std::string estimate_text(const std::vector<NetworkTask>& tasks, const std::vector<run::NetworkSpeed>& speeds) {
  Lines measured, lines;
  for (const run::NetworkSpeed& speed : speeds) {
    measured.push_back({speed.data, speed.network, std::to_string(speed.batch), fmt::format("{:.0f}", 1 / speed.step),
                        fmt::format("{:.0f}", 1 / speed.forward)});
  }
  double total = 0;
  for (const NetworkTask& task : tasks) {
    total += task.hours_left();
    lines.push_back({task.recipe.name, task.protocol, std::to_string(task.seed), std::to_string(task.done),
                     std::to_string(task.wanted), format_duration(task.epoch_seconds),
                     format_duration(3600 * task.hours_left())});
  }
  return "Measured here, on images made of noise:\n" +
         draw_table({{"", "data", true},
                     {"", "network", true},
                     {"", "batch"},
                     {"images a second", "training"},
                     {"images a second", "forward"}},
                    measured) +
         "\n" +
         draw_table({{"", "row", true},
                     {"", "protocol", true},
                     {"", "seed"},
                     {"epochs", "done"},
                     {"epochs", "asked"},
                     {"", "an epoch"},
                     {"", "the rest"}},
                    lines) +
         fmt::format("\nTogether {}; nothing was run.\n", format_duration(3600 * total));
}

std::string estimate_json(const std::vector<NetworkTask>& tasks, const std::vector<run::NetworkSpeed>& speeds) {
  Json json = {{"speeds", Json::parse(run::to_json(speeds))}, {"rows", Json::array()}};
  double total = 0;
  for (const NetworkTask& task : tasks) {
    total += task.hours_left();
    json["rows"].push_back({{"id", task.recipe.id()},
                            {"protocol", task.protocol},
                            {"seed", task.seed},
                            {"epochs", task.done},
                            {"asked", task.wanted},
                            {"absent", task.absent},
                            {"epoch_seconds", task.epoch_seconds},
                            {"hours", task.hours_left()}});
  }
  json["hours"] = total;
  return json.dump(2) + "\n";
}

}  // namespace lipschitzlr::experiment
