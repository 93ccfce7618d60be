#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/show.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/linear_runner.hpp"
#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/experiment/verdict.hpp"
#include "lipschitzlr/report/compose.hpp"
#include "lipschitzlr/run/interrupt.hpp"
#include "lipschitzlr/run/record.hpp"

namespace lipschitzlr::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSecondsForTables = 60;  // the tour shall be short on a slow machine too
constexpr double kSecondsForARace = 10;

struct DemoState {
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

// A fit whose record has the command that makes it.
run::FitResult recorded_fit(run::FitRequest options, const run::Prepared& prepared) {
  run::FitRequest defaults;
  options.command = words_of(options_of(options), options_of(defaults));
  options.command.insert(options.command.begin(), "fit");
  return run::fit(options, prepared);
}

// A tour in four steps; each prints itself, or gives itself as JSON.
class Tour {
 public:
  explicit Tour(const DemoState& state) : state_(state), json_(state.json) {}

  void run() {
    run::require_no_record(state_.folder);
    const Json constants = show_constants(), training = show_fit(), races = show_races(), tables = show_tables();
    const std::string page = report::write_page(state_.folder);
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

  Json show_constants() {
    run::RateOptions options;
    options.data.source = "breast-cancer";
    const run::Prepared prepared = run::prepare(options.data);
    const run::RateReport report = report_rates(prepared, options);
    if (json_) return rates_json(options.data, prepared, report);
    step("What are the Lipschitz constants of a problem, and which rate follows?", "lipschitzlr rate breast-cancer");
    fmt::print("{}\n\n", describe(options.data, prepared));
    show_rates(report);
    return {};
  }

  Json show_fit() {
    run::FitRequest options;
    options.data.source = "breast-cancer";
    options.data.holdout = 0.25;
    options.record = state_.folder + "/breast-cancer-fit";
    const run::Prepared prepared = run::prepare(options.data);
    if (!json_) step("Train it, with no rate to tune.", "lipschitzlr fit breast-cancer --holdout 0.25");
    const run::FitResult result = recorded_fit(options, prepared);
    interrupted_ |= result.stop == linear::Stop::interrupted;
    if (json_) return Json::parse(result.model.training);
    fmt::print("{}\n", describe(options.data, prepared));
    app::show_fit(result);
    return {};
  }

  struct Race {
    const char* source;
    data::Scaling scaling;
    double loss;
  };

  // The paper's race, on the embedded sets and with its scaling: neither constant wins everywhere.
  Json show_races() {
    constexpr std::array rows = {Race{"boston", data::Scaling::column_sum, 200},
                                 Race{"breast-cancer", data::Scaling::column_sum, 0.2},
                                 Race{"iris", data::Scaling::none, 0.2}, Race{"digits", data::Scaling::none, 0.2}};
    if (!json_) {
      step("How many steps does a computed rate take, against a guess?",
           "lipschitzlr fit boston --scale sum --l2 0 --solver gd --rate published --random-start --loss 200");
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
    run::FitRequest options;
    options.data.source = row.source;
    options.data.scaling = row.scaling;
    options.data.intercept = row.scaling == data::Scaling::column_sum;
    options.solver = run::Solver::gd;
    options.random_start = true;
    options.threads = 1;
    options.training.loss_threshold = row.loss;
    options.choose_l2 = false;
    options.tolerance = 0;
    options.training.epochs = state_.most_steps;
    options.training.seconds = kSecondsForARace;
    const run::Prepared prepared = run::prepare(options.data);
    Json object = {
        {"data", row.source}, {"scale", to_string(row.scaling)}, {"loss", row.loss}, {"runs", Json::array()}};
    std::vector<std::string> cells;
    for (const char* rate : {"0.1", "published", "gradient"}) {
      if (interrupted_) break;
      assign(find_option(options_of(options), "rate"), {rate});
      options.record = fmt::format("{}/{}-{}", state_.folder, row.source, rate);
      const run::FitResult result = recorded_fit(options, prepared);
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
    limits.max_iterations = state_.most_steps;
    limits.seconds = kSecondsForTables / 2;
    ThreadPool pool(0);
    const run::InterruptGuard guard;
    const std::vector<experiment::Row> rows = experiment::run_rows(experiment::select_recipes(table, names), limits,
                                                                   pool, {}, [&] { return guard.interrupted(); });
    interrupted_ |= guard.interrupted();
    const std::string text = experiment::to_json(rows);
    write_file_atomically(fmt::format("{}/{}.json", state_.folder, table), text);
    if (json_) return Json::parse(text)["rows"];
    for (const experiment::Row& row : rows) {
      const experiment::Verdict verdict = experiment::judge(row);
      const std::string why = verdict.reasons.empty() ? "" : verdict.reasons[0];
      fmt::print("{}", wrap(fmt::format("{} {:<14} {:<11} ", table, row.recipe.name, verdict.word), why));
    }
    std::fflush(stdout);
    return {};
  }

  const DemoState& state_;
  bool json_;
  bool interrupted_ = false;
  int number_ = 0;
};

}  // namespace

Command demo_command() {
  const auto state = std::make_shared<DemoState>();
  return {.name = "demo",
          .summary = "A one-minute tour on embedded data, which ends with a page",
          .options = {{"steps", &state->most_steps, "give up a race after this many", run::at_least(1)},
                      {"output", &state->folder, "a new folder for records and page; default: runs/demo",
                       run::Placeholder{"FOLDER"}, run::Flags{"-o,--output"}},
                      run::json_option(state->json)},
          .run =
              [state](const Call&) {
                if (state->folder.empty()) state->folder = new_folder();
                return Tour(*state).run(), 0;
              },
          .details =
              "It computes the constants of a data set, trains on it, lets rates race on four others, runs rows of\n"
              "the paper's tables beside its figures, and makes a page of it all. Ctrl-C ends it early; the page\n"
              "then shows what was finished.",
          .examples = "demo"};
}

}  // namespace lipschitzlr::app
