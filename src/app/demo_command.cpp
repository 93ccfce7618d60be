#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/show.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/linear_runner.hpp"
#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/experiment/verdict.hpp"
#include "lipschitzlr/report/compose.hpp"
#include "lipschitzlr/run/constants.hpp"
#include "lipschitzlr/run/interrupt.hpp"
#include "lipschitzlr/run/record.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSecondsForTables = 60;  // the story shall be short on a slow machine too
constexpr double kSecondsForARace = 10;

struct Options {
  std::int64_t most_steps = 50000;
  std::string folder;
  bool json = false;
};

// A place that does not exist yet: runs/demo, then runs/demo-2, runs/demo-3, ...
std::string new_folder() {
  for (int number = 1;; ++number) {
    const std::string folder = number == 1 ? "runs/demo" : fmt::format("runs/demo-{}", number);
    if (!std::filesystem::exists(folder)) return folder;
  }
}

// The words of a command as its record keeps them.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  for (const char letter : command) {
    if (letter == ' ') {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  return words;
}

// Tells the story in four parts; each prints itself, or gives itself as JSON.
class Story {
 public:
  explicit Story(const Options& options) : options_(options), json_(options.json) {}

  void tell() {
    run::require_no_record(options_.folder);
    const Json constants = show_rates(), training = show_fit(), races = show_races(), tables = show_tables();
    const std::string page = report::write_page(options_.folder);
    if (json_) {
      const Json all = {
          {"constants", constants}, {"training", training}, {"race", races}, {"tables", tables}, {"page", page}};
      fmt::print("{}\n", all.dump(2));
    } else {
      fmt::print("\nNext: `lipschitzlr reproduce list` has every row of the paper; `lipschitzlr --help` shows all.\n");
      fmt::print("The page of this demo, with curves, tables and verdicts (open it in a browser):\n{}\n", page);
    }
    if (interrupted_) throw Error(Fault::interrupted, "interrupted; the page shows what was finished");
  }

 private:
  void step(const char* question, const std::string& command) {
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    fmt::print("\n{}{}. {}{}\n$ {}\n\n", terminal ? "\033[1m" : "", ++number_, question, terminal ? "\033[0m" : "",
               command);
    std::fflush(stdout);
  }

  Json show_rates() {
    run::DataChoice data;
    data.source = "breast-cancer";
    const run::Prepared prepared = run::prepare(data);
    const run::ConstantsReport report = report_constants(prepared, {});
    if (json_) return Json::parse(constants_json(data, prepared, report));
    step("What are the Lipschitz constants of a problem, and which rate follows?", "lipschitzlr rate breast-cancer");
    fmt::print("{}\n\n", describe(data, prepared));
    show_constants(report);
    return {};
  }

  Json show_fit() {
    run::DataChoice data;
    data.source = "breast-cancer";
    data.holdout = 0.25;
    run::TrainingChoice training;
    training.options.relative_tolerance = 1e-8;
    training.record = options_.folder + "/breast-cancer-fit";
    training.command = words_of("fit breast-cancer --holdout 0.25 --record " + training.record);
    const run::Prepared prepared = run::prepare(data);
    if (!json_) step("Train it, with no rate to tune.", "lipschitzlr fit breast-cancer --holdout 0.25");
    const run::TrainingResult result = run::train(data, prepared, training);
    interrupted_ |= result.stop == linear::Stop::interrupted;
    if (json_) return Json::parse(result.model.training);
    fmt::print("{}\n", describe(data, prepared));
    show_training(result);
    return {};
  }

  struct Race {
    const char* source;
    const char* scaling;
    double loss;
  };

  run::TrainingResult race(const Race& row, const run::DataChoice& data, const run::Prepared& prepared,
                           const std::string& rate) const {
    run::TrainingChoice training;
    training.solver = "gd";
    training.rate = rate;
    training.random_start = true;
    training.options.loss_threshold = row.loss;
    training.options.epochs = options_.most_steps;
    training.options.seconds = kSecondsForARace;
    training.threads = 1;
    training.record = fmt::format("{}/{}-{}", options_.folder, row.source, rate);
    training.command =
        words_of(fmt::format("fit {} --scale {}{} --solver gd --rate {} --random-start --loss {} --tolerance 0 "
                             "--epochs {} --record {}",
                             row.source, row.scaling, data.intercept ? "" : " --no-intercept", rate, row.loss,
                             options_.most_steps, training.record));
    return run::train(data, prepared, training);
  }

  // The paper's race, on the embedded sets and with its scaling: neither constant wins everywhere.
  Json show_races() {
    constexpr std::array rows = {Race{"boston", "sum", 200}, Race{"breast-cancer", "sum", 0.2},
                                 Race{"iris", "none", 0.2}, Race{"digits", "none", 0.2}};
    if (!json_) {
      step("How many steps does a computed rate take, against a guess?",
           "lipschitzlr fit boston --scale sum --solver gd --rate published --random-start --loss 200");
      fmt::print("{:<14} {:>8} {:>22} {:>24} {:>24}\n", "data", "to loss", "rate 0.1", "1/L published", "1/beta");
    }
    Json all = Json::array();
    for (const Race& row : rows) {
      if (interrupted_) break;
      all.push_back(show_race(row));
    }
    if (!json_) {
      fmt::print(
          "\nFull steps of gradient descent from the same random start, the rate in brackets. These are updates;\n"
          "the paper and `lipschitzlr reproduce` count measurements of the loss, one more.\n");
    }
    return all;
  }

  Json show_race(const Race& row) {
    run::DataChoice data;
    data.source = row.source;
    data.scaling = row.scaling;
    data.intercept = row.scaling == std::string("sum");
    const run::Prepared prepared = run::prepare(data);
    Json object = {{"data", row.source}, {"scale", row.scaling}, {"loss", row.loss}, {"runs", Json::array()}};
    std::vector<std::string> cells;
    for (const char* rate : {"0.1", "published", "gradient"}) {
      if (interrupted_) break;
      const run::TrainingResult result = race(row, data, prepared, rate);
      interrupted_ |= result.stop == linear::Stop::interrupted;
      const bool reached = result.stop == linear::Stop::loss_threshold;
      object["runs"].push_back(
          {{"rate_name", rate}, {"rate", result.last.rate}, {"updates", result.last.epoch}, {"reached", reached}});
      cells.push_back(
          fmt::format("{:>9} ({:.5g})", fmt::format("{}{}", reached ? "" : "> ", result.last.epoch), result.last.rate));
    }
    cells.resize(3);
    if (!json_) fmt::print("{:<14} {:>8} {:>22} {:>24} {:>24}\n", row.source, row.loss, cells[0], cells[1], cells[2]);
    std::fflush(stdout);
    return object;
  }

  // The rows whose data are embedded; all reasons are on the page.
  Json show_tables() {
    if (!json_ && !interrupted_) {
      step("And the paper's own rows: do its figures hold?",
           "lipschitzlr reproduce table1 boston breast-cancer iris digits");
    }
    Json all = Json::object();
    for (const std::string table : {"table1", "table2"}) {
      if (interrupted_) break;
      all[table] = show_table(table);
    }
    return all;
  }

  Json show_table(const std::string& table) {
    const std::vector<std::string> names = table == "table1"
                                               ? std::vector<std::string>{"boston", "breast-cancer", "iris", "digits"}
                                               : std::vector<std::string>{"iris", "digits", "breast-cancer"};
    experiment::Limits limits;
    limits.max_iterations = options_.most_steps;
    limits.seconds = kSecondsForTables / 2;
    ThreadPool pool(0);
    const run::InterruptGuard guard;
    const std::vector<experiment::Row> rows = experiment::run_rows(
        experiment::select_recipes(table, names), limits, pool, {}, [&] { return guard.interrupted(); });
    interrupted_ |= guard.interrupted();
    const std::string text = experiment::to_json(rows);
    write_file_atomically(fmt::format("{}/{}.json", options_.folder, table), text);
    if (json_) return Json::parse(text)["rows"];
    for (const experiment::Row& row : rows) {
      const experiment::Verdict verdict = experiment::judge(row);
      const std::string why = verdict.reasons.empty() ? "" : verdict.reasons[0];
      fmt::print("{}", wrap(fmt::format("{} {:<14} {:<11} ", table, row.recipe.name, verdict.word), why));
    }
    std::fflush(stdout);
    return {};
  }

  const Options& options_;
  bool json_;
  bool interrupted_ = false;
  int number_ = 0;
};

}  // namespace

void add_demo_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("demo", "A story of a minute on embedded data, which ends with a page");
  auto options = std::make_shared<Options>();
  expect_whole(command->add_option("--steps", options->most_steps, "give up a race after this many; default: 50000"), 1)
      ->type_name("N");
  command->add_option("-o,--output", options->folder, "a new folder for records and page; default: runs/demo")
      ->type_name("FOLDER");
  add_json_option(*command, options->json);
  command->footer(
      "It computes the constants of a data set, trains on it, lets rates race on four others, runs rows of\n"
      "the paper's tables beside its figures, and makes a page of it all. Ctrl-C ends it early; the page\n"
      "then shows what was finished.\n"
      "Example:\n"
      "  lipschitzlr demo");
  command->callback([options] {
    if (options->folder.empty()) options->folder = new_folder();
    Story(*options).tell();
  });
}

}  // namespace lipschitzlr::app
