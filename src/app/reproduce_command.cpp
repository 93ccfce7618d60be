#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "app/commands.hpp"
#include "app/reproduce.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/linear_runner.hpp"
#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/run/interrupt.hpp"

namespace lipschitzlr::app {
namespace {

struct LinearRows {
  std::vector<std::string> rows;
  experiment::Limits limits;
  std::string csv;
  bool json = false;
};

void reproduce(const std::string& table, const LinearRows& options) {
  const std::vector<experiment::Recipe> recipes = experiment::select_recipes(table, options.rows);
  if (!options.csv.empty()) check_writable(options.csv);
  const run::InterruptGuard guard;
  ThreadPool pool(options.limits.threads);
  LiveLines status;
  experiment::Reporter report;
  if (status.on()) report = [&](const std::string& sentence) { status.draw({sentence}); };
  const std::vector<experiment::Row> rows =
      experiment::run_rows(recipes, options.limits, pool, report, [&] { return guard.interrupted(); });
  status.clear();
  if (!options.csv.empty()) write_file_atomically(options.csv, experiment::to_csv(rows));
  fmt::print("{}", options.json ? experiment::to_json(rows) : experiment::to_text(rows));
  if (guard.interrupted()) throw Error(Fault::interrupted, "interrupted; what was finished is above");
}

Command table_command(const std::string& table, const std::string& summary, const std::string& examples) {
  const auto options = std::make_shared<LinearRows>();
  experiment::Limits& limits = options->limits;
  const run::Option length =
      table == "table1" ? run::Option{"max_iterations", &limits.max_iterations,
                                      "give up on a threshold after this many", run::at_least(1)}
                        : run::Option{"epochs", &limits.epochs, "epochs in place of the paper's", run::at_least(1)};
  return {
      .name = table,
      .summary = summary,
      .options = {{"rows", &options->rows, "rows to run, see `lipschitzlr reproduce list`; default: all",
                   run::Flags{"ROW"}},
                  {"seeds", &limits.seeds, "run every row from this many splits and starts; default: 3",
                   run::between(1, 1000)},
                  length,
                  budget_option(limits.seconds),
                  {"csv", &options->csv, "also write every training as a line of this file", run::Placeholder{"FILE"}},
                  run::threads_option(limits.threads),
                  run::json_option(options->json)},
      .run = [table, options](const Call&) { return reproduce(table, *options), 0; },
      .examples = examples};
}

Command list_command() {
  struct ListOptions {
    std::string records = kRecords;
    bool json = false;
  };
  const auto options = std::make_shared<ListOptions>();
  return {.name = "list",
          .summary = "Show every row, whether its data are here, how far records got",
          .options = {{"records", &options->records, "folder of the records of networks", run::Placeholder{"FOLDER"}},
                      run::json_option(options->json)},
          .run =
              [options](const Call& call) {
                if (call.given.contains("records") && !std::filesystem::is_directory(options->records)) {
                  throw Error(Fault::data, fmt::format("{}: there is no such folder", options->records));
                }
                const experiment::Collection known = experiment::collect({options->records});
                const std::vector<experiment::Row> rows = experiment::rows_of(experiment::recipes(), known);
                fmt::print("{}", options->json ? experiment::list_json(rows) : experiment::list_text(rows));
                return 0;
              },
          .examples = "reproduce list\nreproduce list --records experiments/records"};
}

}  // namespace

run::Option budget_option(double& seconds) {
  return {"budget",
          run::spelled(
              seconds, [](double value) { return std::isinf(value) ? "" : fmt::format("{}s", value); },
              [](const std::string& text) { return std::optional(experiment::seconds_from(text)); }, "a time"),
          "time for the whole command, such as 90s, 30m or 2h; what did not run is listed", run::Placeholder{"TIME"}};
}

Command reproduce_command() {
  Command command = network_rows_command();
  command.name = "reproduce";
  command.summary = "Run the rows of the paper's tables, beside its figures";
  command.examples =
      "reproduce list\n"
      "reproduce table1 boston iris --seeds 5\n"
      "reproduce table2 --budget 10m --csv table2.csv\n"
      "reproduce table3 --dry-run\n"
      "reproduce mnist-cnn-adamo-adaptive table1/boston --epochs 3\n"
      "reproduce all --budget 60m";
  command.commands = {list_command(),
                      table_command("table1", "Iterations to a threshold, with the rate 0.1 and with 1/L",
                                    "reproduce table1 boston iris --seeds 5\n"
                                    "reproduce table1 --budget 10m --csv table1.csv"),
                      table_command("table2", "Accuracy after a number of epochs, with the rate 0.1 and with 1/L",
                                    "reproduce table2 iris --seeds 10\n"
                                    "reproduce table2 breast-cancer --epochs 100")};
  for (Command& table : network_table_commands()) command.commands.push_back(std::move(table));
  return command;
}

}  // namespace lipschitzlr::app
