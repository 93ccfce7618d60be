#include "lipschitzlr/experiment/network_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiment/grid.hpp"

namespace lipschitzlr::experiment {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;
using run::NetworkRecord;
using Records = std::vector<NetworkRecord>;

const std::vector<std::string> kProtocols = {"coded", "published"};

std::string percent_cell(double percent) { return fmt::format("{:.2f}", percent); }

// Every row once, in the order of the tasks.
std::vector<const NetworkTask*> rows_of(const std::vector<NetworkTask>& tasks, const std::string& protocol) {
  std::vector<const NetworkTask*> rows;
  for (const NetworkTask& task : tasks) {
    if (task.protocol != protocol || (!rows.empty() && rows.back()->recipe.id() == task.recipe.id())) continue;
    rows.push_back(&task);
  }
  return rows;
}

std::optional<double> hours_of_row(const std::vector<NetworkTask>& tasks, const NetworkTask& row) {
  double hours = 0;
  for (const NetworkTask& task : tasks) {
    if (task.recipe.id() != row.recipe.id() || task.protocol != row.protocol) continue;
    if (!(task.epoch_seconds > 0)) return {};
    hours += task.hours_left();
  }
  return hours;
}

Verdict verdict_of(const NetworkTask& row, const Records& records) {
  std::optional<double> hours;
  if (row.epoch_seconds > 0) hours = row.epoch_seconds * static_cast<double>(row.recipe.training.epochs) / 3600;
  Verdict verdict = judge(row.recipe, records, hours);
  if (verdict.word != "not run" || row.absent.empty()) return verdict;
  return {"not at hand", {fmt::format("Get the images with: lipschitzlr data get {}.", row.recipe.training.data)}};
}

// A line with the means over the seeds and, when there are several, two more with the least and the most.
void add_result(const NetworkTask& row, const Records& records, const std::string& word, std::vector<Cells>& lines) {
  const NetworkRecipe& recipe = row.recipe;
  const std::vector<const NetworkRecord*> ours = furthest_of(recipe, row.protocol, records);
  const std::size_t epochs = ours.empty() ? 0 : ours[0]->epochs.size();
  const Curve* const curve = recipe.curve.empty() ? nullptr : authors_curve(recipe.curve);
  const Spread best = best_accuracies(ours), last = last_accuracies(ours);
  lines.push_back({recipe.name, fmt::format("{}/{}", epochs, recipe.training.epochs),
                   ours.empty() ? "-" : percent_cell(best.mean), ours.empty() ? "-" : percent_cell(last.mean),
                   curve == nullptr || ours.empty() ? "-" : percent_cell(best_accuracy(*curve, epochs).percent),
                   percent_cell(recipe.accuracy), word});
  if (ours.size() < 2) return;
  lines.push_back({"  least", "", percent_cell(best.least), percent_cell(last.least), "", "", ""});
  lines.push_back({"  most", "", percent_cell(best.most), percent_cell(last.most), "", "", ""});
}

std::string open_text(const std::vector<NetworkTask>& tasks) {
  std::vector<Cells> lines;
  double total = 0;
  for (const NetworkTask& task : tasks) {
    if (!task.open()) continue;
    total += task.hours_left();
    lines.push_back({task.recipe.name, task.protocol, std::to_string(task.seed), std::to_string(task.done),
                     std::to_string(task.wanted),
                     task.epoch_seconds > 0 ? format_duration(task.hours_left() * 3600) : "-"});
  }
  if (lines.empty()) return "";
  return "\nStill to do; the same command goes on with it:\n" +
         draw_grid({{"", "row", true},
                    {"", "protocol", true},
                    {"", "seed"},
                    {"epochs", "done"},
                    {"epochs", "asked"},
                    {"", "about"}},
                   lines) +
         (total > 0 ? fmt::format("Together about {}.\n", format_duration(total * 3600)) : "");
}

std::string grid_of(const std::vector<NetworkTask>& tasks, const std::string& protocol, const Records& records) {
  std::vector<Cells> lines;
  for (const NetworkTask* row : rows_of(tasks, protocol)) {
    add_result(*row, records, protocol == "coded" ? verdict_of(*row, records).word : "", lines);
  }
  if (lines.empty()) return "";
  const char* const lead = protocol == "coded" ? "As coded" : "\nAs published";
  return fmt::format("{}, accuracy in percent:\n", lead) + draw_grid({{"", "row", true},
                                                                      {"", "epochs"},
                                                                      {"ours", "best"},
                                                                      {"ours", "last"},
                                                                      {"", "curve"},
                                                                      {"", "paper"},
                                                                      {"", protocol == "coded" ? "verdict" : "", true}},
                                                                     lines);
}

Json speed_json(const NetworkSpeed& speed) {
  return {{"data", speed.data},
          {"network", speed.network},
          {"batch", speed.batch},
          {"step_seconds", speed.step},
          {"forward_seconds", speed.forward}};
}

Json record_json(const NetworkRecord& record) {
  const Peak best = best_accuracy(record);
  return {
      {"folder", record.folder},        {"seed", record.option("seed")},
      {"epochs", record.epochs.size()}, {"best", best.percent},
      {"best_epoch", best.epoch},       {"last", record.epochs.empty() ? 0 : 100 * record.epochs.back().val_accuracy}};
}

Json recipe_json(const NetworkRecipe& recipe) {
  const NetworkTraining& training = recipe.training;
  return {{"table", recipe.table},
          {"name", recipe.name},
          {"id", recipe.id()},
          {"title", recipe.title},
          {"data_set", training.data},
          {"network", training.network},
          {"optimizer", training.optimizer},
          {"policy", training.policy},
          {"decay", training.decay},
          {"goal", counted(training.epochs, "epoch")},
          {"paper", {{"accuracy", recipe.accuracy}}},
          {"curve", recipe.curve}};
}

}  // namespace

std::string to_text(const std::vector<NetworkTask>& tasks, const Records& records) {
  std::string text;
  for (const std::string& protocol : kProtocols) text += grid_of(tasks, protocol, records);
  text += "\n" +
          wrap("",
               "epochs: done, and those of the paper. ours: means over the seeds that got that far, then the "
               "least and the most where there are several. curve: the best of the authors' curve up to the epoch we "
               "are at. paper: the figure it prints, the best of all epochs on the test set.");
  text += open_text(tasks);
  for (const NetworkTask* row : rows_of(tasks, kProtocols[0])) {
    const Verdict verdict = verdict_of(*row, records);
    text += "\n" + wrap("", fmt::format("{} ({}): {}", row->recipe.name, row->recipe.title, verdict.word));
    int number = 0;
    for (const std::string& note : verdict.reasons) text += wrap(fmt::format("  {}. ", ++number), note);
    for (const std::string& note : row->recipe.caveats) text += wrap(fmt::format("  {}. ", ++number), note);
  }
  return text;
}

std::string to_json(const std::vector<NetworkTask>& tasks, const Records& records) {
  Json rows = Json::array();
  for (const std::string& protocol : kProtocols) {
    for (const NetworkTask* row : rows_of(tasks, protocol)) {
      const Verdict verdict = verdict_of(*row, records);
      Json json = recipe_json(row->recipe);
      json["protocol"] = protocol;
      json["verdict"] = verdict.word;
      json["reasons"] = verdict.reasons;
      json["caveats"] = row->recipe.caveats;
      json["absent"] = row->absent;
      if (const auto hours = hours_of_row(tasks, *row)) json["hours_left"] = *hours;
      json["records"] = Json::array();
      for (const NetworkRecord* record : records_of(row->recipe, protocol, records)) {
        json["records"].push_back(record_json(*record));
      }
      for (const NetworkTask& task : tasks) {
        if (task.recipe.id() != row->recipe.id() || task.protocol != protocol) continue;
        json["trainings"].push_back({{"folder", task.folder},
                                     {"seed", task.seed},
                                     {"epochs", task.done},
                                     {"asked", task.wanted},
                                     {"failure", task.failure}});
      }
      rows.push_back(json);
    }
  }
  return Json{{"rows", rows}}.dump(2) + "\n";
}

std::string estimate_text(const std::vector<NetworkTask>& tasks, const std::vector<NetworkSpeed>& speeds) {
  std::string text = "Measured here, on images made of noise:\n";
  std::vector<Cells> lines;
  for (const NetworkSpeed& speed : speeds) {
    lines.push_back({speed.data, speed.network, std::to_string(speed.batch), fmt::format("{:.0f}", 1 / speed.step),
                     fmt::format("{:.0f}", 1 / speed.forward)});
  }
  text += draw_grid({{"", "data", true},
                     {"", "network", true},
                     {"", "batch"},
                     {"images a second", "training"},
                     {"images a second", "forward"}},
                    lines);
  lines.clear();
  double total = 0;
  for (const NetworkTask& task : tasks) {
    total += task.hours_left();
    lines.push_back({task.recipe.name, task.protocol, std::to_string(task.seed), std::to_string(task.done),
                     std::to_string(task.wanted), format_duration(task.epoch_seconds),
                     format_duration(task.hours_left() * 3600)});
  }
  text += "\n" + draw_grid({{"", "row", true},
                            {"", "protocol", true},
                            {"", "seed"},
                            {"epochs", "done"},
                            {"epochs", "asked"},
                            {"", "an epoch"},
                            {"", "the rest"}},
                           lines);
  return text + fmt::format("\nTogether about {}; nothing was run.\n", format_duration(total * 3600));
}

std::string estimate_json(const std::vector<NetworkTask>& tasks, const std::vector<NetworkSpeed>& speeds) {
  Json json = {{"speeds", Json::array()}, {"rows", Json::array()}};
  double total = 0;
  for (const NetworkSpeed& speed : speeds) json["speeds"].push_back(speed_json(speed));
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

std::string network_list_text(const Records& records) {
  std::vector<Cells> lines;
  for (const NetworkRecipe& recipe : network_recipes()) {
    std::size_t epochs = 0;
    for (const std::string& protocol : recipe.protocols) {
      const auto list = furthest_of(recipe, protocol, records);
      if (!list.empty()) epochs = std::max(epochs, list[0]->epochs.size());
    }
    lines.push_back({recipe.table, recipe.name, counted(recipe.training.epochs, "epoch"),
                     format_percent(recipe.accuracy), recipe.curve.empty() ? "no" : "yes",
                     absent_sets(recipe.training.data).empty() ? "yes" : "no",
                     epochs == 0 ? "-" : counted(epochs, "epoch")});
  }
  return draw_grid({{"", "table", true},
                    {"", "row", true},
                    {"", "goal"},
                    {"", "the paper"},
                    {"", "curve", true},
                    {"", "here", true},
                    {"", "record"}},
                   lines);
}

std::string network_list_json(const Records& records) {
  Json list = Json::array();
  for (const NetworkRecipe& recipe : network_recipes()) {
    Json json = recipe_json(recipe);
    for (const std::string& protocol : recipe.protocols) {
      Json& command = json["commands"][protocol] = {"train"};
      for (const std::string& word : train_options(recipe, protocol)) command.push_back(word);
      command.insert(command.end(), {"--epochs", std::to_string(recipe.training.epochs)});
    }
    json["absent"] = absent_sets(recipe.training.data);
    json["artefacts"] = recipe.artefacts;
    json["caveats"] = recipe.caveats;
    json["records"] = Json::array();
    for (const std::string& protocol : recipe.protocols) {
      for (const NetworkRecord* record : records_of(recipe, protocol, records)) {
        json["records"].push_back(record_json(*record));
      }
    }
    list.push_back(json);
  }
  return list.dump();
}

}  // namespace lipschitzlr::experiment
