#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/reproduce.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/linear_runner.hpp"
#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/run/interrupt.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  std::vector<std::string> rows;
  experiment::Limits limits;
  std::string csv;
  bool json = false;
};

void reproduce(const std::string& table, const Options& options) {
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

void add_table(CLI::App& parent, const std::string& table, const std::string& description,
               const std::string& examples) {
  CLI::App* command = parent.add_subcommand(table, description);
  auto options = std::make_shared<Options>();
  command->add_option("ROW", options->rows, "rows to run, see `lipschitzlr reproduce list`; all when none is named")
      ->type_name("");
  add_seeds_option(*command, options->limits, "run every row from this many splits and starts; default: 3");
  if (table == "table1") {
    expect_whole(command->add_option("--max-iterations", options->limits.max_iterations,
                                     "give up on a threshold after this many; default: 500000"),
                 1)
        ->type_name("N");
  } else {
    expect_whole(command->add_option("--epochs", options->limits.epochs, "epochs in place of the paper's"), 1)
        ->type_name("N");
  }
  add_budget_option(*command, options->limits.seconds);
  command->add_option("--csv", options->csv, "also write every training as a line of this file")->type_name("FILE");
  add_threads_option(*command, options->limits.threads);
  add_json_option(*command, options->json);
  fold_help(*command);
  command->footer("Ctrl-C ends the running training; what is finished is still printed and written.\nExamples:\n" +
                  examples);
  command->callback([table, options] { reproduce(table, *options); });
}

void add_list(CLI::App& parent) {
  CLI::App* list = parent.add_subcommand("list", "Show every row, whether its data are available, how far records got");
  struct ListOptions {
    std::string records = kRecords;
    bool json = false;
  };
  auto options = std::make_shared<ListOptions>();
  list->add_option("--records", options->records, "folder of the records of networks; default: reproduction")
      ->type_name("FOLDER");
  add_json_option(*list, options->json);
  fold_help(*list);
  list->footer("Examples:\n  lipschitzlr reproduce list\n  lipschitzlr reproduce list --records experiments/records");
  list->callback([options] {
    const experiment::Collection known = experiment::collect({options->records});
    const std::vector<experiment::Row> rows = experiment::rows_of(experiment::recipes(), known);
    fmt::print("{}", options->json ? experiment::list_json(rows) : experiment::list_text(rows));
  });
}

}  // namespace

void add_budget_option(CLI::App& command, double& seconds) {
  command
      .add_option_function<std::string>(
          "--budget", [&seconds](const std::string& text) { seconds = experiment::seconds_from(text); },
          "time for the whole command, such as 90s, 30m or 2h; what did not run is listed")
      ->type_name("TIME");
}

void add_seeds_option(CLI::App& command, experiment::Limits& limits, const std::string& help) {
  expect_whole(command.add_option("--seeds", limits.seeds, help), 1, 1000)->type_name("N");
}

void add_reproduce_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "Run the rows of the paper's tables, beside its figures");
  add_list(*command);
  add_table(*command, "table1", "Iterations to a threshold, with the rate 0.1 and with 1/L",
            "  lipschitzlr reproduce table1 boston iris --seeds 5\n"
            "  lipschitzlr reproduce table1 --budget 10m --csv table1.csv");
  add_table(*command, "table2", "Accuracy after a number of epochs, with the rate 0.1 and with 1/L",
            "  lipschitzlr reproduce table2 iris --seeds 10\n"
            "  lipschitzlr reproduce table2 breast-cancer --epochs 100");
  add_network_tables(*command);
  command->footer(
      "Examples:\n"
      "  lipschitzlr reproduce list\n"
      "  lipschitzlr reproduce table1 boston iris --seeds 5\n"
      "  lipschitzlr reproduce table2 --budget 10m --csv table2.csv\n"
      "  lipschitzlr reproduce table3 --dry-run\n"
      "  lipschitzlr reproduce mnist-cnn-adamo-adaptive table1/boston --epochs 3\n"
      "  lipschitzlr reproduce all --budget 60m");
}

}  // namespace lipschitzlr::app
