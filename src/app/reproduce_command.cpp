#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/output.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  std::vector<std::string> rows;
  experiment::RunLimits limits;
  std::string csv;
  unsigned threads = 0;
  bool json = false;
};

// One line that is drawn over itself and taken away at the end; nothing when stderr is no terminal.
class StatusLine {
 public:
  ~StatusLine() {
    if (on_) fmt::print(stderr, "\r\033[K");
  }
  experiment::Reporter reporter() const {
    if (!on_) return {};
    return [](const std::string& sentence) { fmt::print(stderr, "\r\033[K{:.99}", sentence); };
  }

 private:
  bool on_ = isatty(STDERR_FILENO) != 0;
};

void reproduce(const std::string& table, const Options& options) {
  const std::vector<experiment::Recipe> recipes = experiment::select_recipes(table, options.rows);
  ThreadPool pool(options.threads);
  std::vector<experiment::RowResult> results;
  {
    const StatusLine status;
    results = experiment::run_rows(recipes, options.limits, pool, status.reporter());
  }
  if (!options.csv.empty()) write_file_atomically(options.csv, experiment::to_csv(results));
  fmt::print(
      "{}", options.json ? experiment::to_json(results, options.limits) : experiment::to_text(results, options.limits));
}

void add_table(CLI::App& parent, const std::string& table, const std::string& description) {
  CLI::App* command = parent.add_subcommand(table, description);
  auto options = std::make_shared<Options>();
  command->add_option("ROW", options->rows, "rows to run, see `lipschitzlr reproduce list`; all when none is named")
      ->type_name("");
  command->add_option("--seeds", options->limits.seeds, "run every row from this many splits and starts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--max-iterations", options->limits.max_iterations, "give up on a threshold after this many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--epochs", options->limits.epochs, "epochs in place of the paper's, where the row has epochs")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command
      ->add_option_function<std::string>(
          "--budget", [options](const std::string& text) { options->limits.seconds = experiment::seconds_from(text); },
          "time for the whole command, such as 90s, 30m or 2h; what did not run is listed")
      ->type_name("TIME");
  command->add_option("--csv", options->csv, "also write every training as a line of this file")->type_name("FILE");
  add_threads_option(*command, options->threads);
  add_json_option(*command, options->json);
  command->callback([table, options] { reproduce(table, *options); });
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "Run the rows of the paper's tables, beside its figures");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "Show every row and whether its data are at hand");
  auto json = std::make_shared<bool>(false);
  add_json_option(*list, *json);
  list->callback([json] { fmt::print("{}", *json ? experiment::list_json() : experiment::list_text()); });
  add_table(*command, "table1", "Iterations to a threshold, with the rate 0.1 and with 1/L");
  add_table(*command, "table2", "Accuracy after a number of epochs, with the rate 0.1 and with 1/L");
  command->footer(
      "Examples:\n"
      "  lipschitzlr reproduce list\n"
      "  lipschitzlr reproduce table1 boston iris --seeds 5\n"
      "  lipschitzlr reproduce table2 --budget 10m --csv table2.csv");
}

}  // namespace lipschitzlr::app
