#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/options.hpp"
#include "app/reproduce.hpp"
#include "app/torch_part.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/network_output.hpp"
#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/experiment/row_record.hpp"
#include "lipschitzlr/experiment/selection.hpp"
#include "lipschitzlr/report/compose.hpp"

namespace lipschitzlr::app {
namespace {

using Clock = std::chrono::steady_clock;
using experiment::NetworkSpeed;
using experiment::NetworkTask;

constexpr const char* kLinearTables[] = {"table1", "table2"};
constexpr double kLinearShare = 0.5;  // of the budget, at most, when there are networks too

struct Options {
  std::vector<std::string> rows;
  experiment::NetworkLimits limits;
  std::optional<int> seeds;
  std::string protocol = "coded";
  bool dry_run = false, json = false;
  bool page = false;  // ends with a page of every row
};

class Reproduction {
 public:
  Reproduction(experiment::Selection selection, const Options& options)
      : selection_(std::move(selection)), options_(options), limits_(options.limits) {
    limits_.seeds = options.seeds.value_or(limits_.seeds);
    if (options.protocol == "both") limits_.protocols = {"coded", "published"};
    if (options.protocol == "published") limits_.protocols = {"published"};
    // Records say from where they came; a path that holds in this folder only would not.
    if (!limits_.data.empty()) limits_.data = std::filesystem::absolute(limits_.data).lexically_normal().string();
    tasks_ = experiment::plan(selection_.networks, limits_);
  }

  void run() {
    if (!tasks_.empty() && find_torch_part().empty()) start_torch_part({});  // says what is missing
    if (options_.dry_run) return show_estimate();
    make_records_folder();  // before hours of work that it could not hold
    run_linear();
    run_networks();
    show();
    if (options_.page) {
      fmt::print(stderr, "lipschitzlr: the page of it all: {}\n",
                 report::write_page(limits_.records, {.title = "", .whole_paper = true}));
    }
    if (guard_.interrupted()) {
      throw Error(Fault::interrupted, "interrupted; what was finished stands above, the same command goes on");
    }
  }

 private:
  double seconds_left() const { return limits_.seconds - std::chrono::duration<double>(Clock::now() - start_).count(); }

  void make_records_folder() const {
    std::error_code failure;
    std::filesystem::create_directories(limits_.records, failure);
    if (failure) throw Error(Fault::data, fmt::format("{}: {}", limits_.records, failure.message()));
    check_writable(limits_.records + "/" + experiment::kSpeedsFile);
  }

  std::vector<NetworkSpeed> measure_speeds() {
    std::vector<std::string> words = {"probe"};
    for (const NetworkSpeed& speed : experiment::wanted_speeds(tasks_)) {
      words.push_back(fmt::format("{}:{}:{}", speed.data, speed.network, speed.batch));
    }
    if (words.size() == 1) return {};
    if (limits_.threads > 0) words.insert(words.end(), {"--threads", std::to_string(limits_.threads)});
    fmt::print(stderr, "lipschitzlr: measuring how fast {} here\n",
               words.size() == 2 ? "the network trains" : "the networks train");
    std::string output;
    const int code = run_torch_part(
        words, [&] { return guard_.interrupted(); }, &output);
    if (guard_.interrupted()) return {};  // nothing will be run either
    if (code != 0) throw Error(static_cast<Fault>(code), "the libtorch part failed; the reason stands above");
    const std::vector<NetworkSpeed> speeds = experiment::speeds_from(output);
    if (!options_.dry_run) write_file_atomically(limits_.records + "/" + experiment::kSpeedsFile, output);
    return speeds;
  }

  void show_estimate() {
    const std::vector<NetworkSpeed> speeds = measure_speeds();
    if (guard_.interrupted()) throw Error(Fault::interrupted, "interrupted; nothing was measured");
    experiment::estimate(tasks_, speeds, limits_);
    if (options_.json) fmt::print("{}", experiment::estimate_json(tasks_, speeds));
    if (!options_.json && !tasks_.empty()) fmt::print("{}", experiment::estimate_text(tasks_, speeds));
    if (!selection_.linear.empty()) {
      fmt::print(stderr,
                 "lipschitzlr: rows of tables 1 and 2 are not estimated: seconds each, minutes on the larger sets\n");
    }
  }

  // Every row has its share of the time left; what it does not need goes to those after it. A row is written as soon as
  // it is done, as --json prints it, so that a report finds all in one folder and the same command goes on.
  void run_linear() {
    const double share = tasks_.empty() ? 1 : kLinearShare;
    std::size_t rows_left = selection_.linear.size();
    linear_limits_.seeds = options_.seeds.value_or(linear_limits_.seeds);
    linear_limits_.epochs = limits_.epochs;
    for (const experiment::Recipe& recipe : selection_.linear) {
      linear_limits_.seconds =
          std::max(0.0, seconds_left() - (1 - share) * limits_.seconds) / static_cast<double>(rows_left--);
      if (std::isinf(limits_.seconds)) linear_limits_.seconds = limits_.seconds;
      linear_.push_back(linear_row(recipe));
    }
  }

  experiment::RowResult linear_row(const experiment::Recipe& recipe) {
    const auto known = experiment::read_row(limits_.records, recipe, linear_limits_);
    if (known && known->whole()) {
      fmt::print(stderr, "lipschitzlr: {}: measured before, {}\n", recipe.id(),
                 experiment::row_record(limits_.records, recipe));
      return *known;
    }
    const experiment::RowResult result = run_linear_rows({recipe}, linear_limits_, limits_.threads, guard_)[0];
    if (known && known->finished() >= result.finished() && !result.whole()) return *known;  // had more time
    if (!result.runs.empty()) experiment::write_row(limits_.records, result, linear_limits_);
    return result;
  }

  void run_networks() {
    if (tasks_.empty() || guard_.interrupted()) return;
    if (limits_.is_try()) fmt::print(stderr, "lipschitzlr: other images or fewer are a try: recorded, not judged\n");
    experiment::NetworkLimits limits = limits_;
    if (std::isfinite(limits_.seconds)) {
      experiment::estimate(tasks_, measure_speeds(), limits_);
      limits.seconds = std::max(0.0, seconds_left());
    }
    const auto launch = [&](const std::vector<std::string>& words, double seconds) {
      const Clock::time_point begin = Clock::now();
      return run_torch_part(words, [&] {
        return guard_.interrupted() || std::chrono::duration<double>(Clock::now() - begin).count() > seconds;
      });
    };
    const auto report = [](const std::string& sentence) { fmt::print(stderr, "lipschitzlr: {}\n", sentence); };
    experiment::run_tasks(tasks_, limits, launch, report, [&] { return guard_.interrupted(); });
  }

  std::vector<experiment::RowResult> linear_of(const std::string& table) const {
    std::vector<experiment::RowResult> results;
    for (const experiment::RowResult& result : linear_) {
      if (result.recipe.table == table) results.push_back(result);
    }
    return results;
  }

  void show() {
    const std::vector<run::NetworkRecord> records = run::read_network_records(limits_.records);
    nlohmann::ordered_json json;
    for (const std::string table : kLinearTables) {
      const std::vector<experiment::RowResult> results = linear_of(table);
      if (results.empty()) continue;
      json[table] = nlohmann::ordered_json::parse(experiment::to_json(results, linear_limits_));
      if (!options_.json) fmt::print("{}\n{}\n", table, experiment::to_text(results, linear_limits_));
    }
    if (!tasks_.empty()) json["networks"] = nlohmann::ordered_json::parse(experiment::to_json(tasks_, records))["rows"];
    if (options_.json) {
      fmt::print("{}\n", json.dump(2));
    } else if (!tasks_.empty()) {
      fmt::print("{}", experiment::to_text(tasks_, records));
    }
  }

  experiment::Selection selection_;
  const Options& options_;
  experiment::NetworkLimits limits_;
  experiment::RunLimits linear_limits_;
  std::vector<NetworkTask> tasks_;
  std::vector<experiment::RowResult> linear_;
  const run::InterruptGuard guard_;
  Clock::time_point start_ = Clock::now();
};

void add_options(CLI::App& command, Options& options) {
  experiment::NetworkLimits& limits = options.limits;
  expect_whole(command.add_option("--epochs", limits.epochs, "epochs in place of the paper's"), 1)->type_name("N");
  expect_whole(
      command.add_option("--seeds", options.seeds, "run every row from this many starts; default: 3, networks 1"), 1,
      1000)
      ->type_name("N");
  add_budget_option(command, limits.seconds);
  command.add_option("--records", limits.records, "folder of the records; default: reproduction")->type_name("FOLDER");
  command.add_option("--protocol", options.protocol, "of networks: what the authors ran (default), the paper's text")
      ->type_name("coded|published|both")
      ->check([](const std::string& word) {
        const bool known = word == "coded" || word == "published" || word == "both";
        return known ? "" : word + ": expected coded, published or both";
      });
  command.add_option("--data", limits.data, "train networks on these images instead, for a try")->type_name("FOLDER");
  expect_whole(command.add_option("--limit", limits.images, "train networks on so many images only, for a try"), 1)
      ->type_name("N");
  command.add_flag("--dry-run", options.dry_run, "run nothing: measure how fast networks train, and say how long");
  add_threads_option(command, limits.threads, Bits::differ);
  add_json_option(command, options.json);
  fold_help(command);
}

constexpr const char* kHow =
    "Every training of a network has a record; the same command goes on where Ctrl-C or the budget\n"
    "ended it. A budget is shared in rounds: all trainings to 1 epoch, then to 2, 4, 8, ..., short\n"
    "epochs first; an epoch that does not fit any more is not begun.\n"
    "Examples:\n";

void add_network_table(CLI::App& parent, const std::string& table, const std::string& description,
                       const std::string& examples) {
  CLI::App* command = parent.add_subcommand(table, description);
  auto options = std::make_shared<Options>();
  command->add_option("ROW", options->rows, "rows to run, see `lipschitzlr reproduce list`; all when none is named")
      ->type_name("");
  add_options(*command, *options);
  command->footer(kHow + examples);
  command->callback([table, options] {
    Reproduction({{}, experiment::select_network_recipes(table, options->rows)}, *options).run();
  });
}

}  // namespace

void add_network_tables(CLI::App& reproduce) {
  add_network_table(reproduce, "table3", "Networks: 37 rows on MNIST, CIFAR-10 and CIFAR-100; needs libtorch",
                    "  lipschitzlr reproduce table3 --dry-run\n"
                    "  lipschitzlr reproduce table3 mnist-cnn-adamo-adaptive --epochs 3\n"
                    "  lipschitzlr reproduce table3 --budget 8h --records runs/table3");
  add_network_table(reproduce, "comparison", "AdaShift, AdaDelta, WN-Adam and AMSGrad on the same networks",
                    "  lipschitzlr reproduce comparison mnist-cnn-adadelta --epochs 6\n"
                    "  lipschitzlr reproduce comparison --dry-run");
  CLI::App* all = reproduce.add_subcommand("all", "Every row of every table, as far as a budget goes");
  auto everything = std::make_shared<Options>();
  everything->page = true;
  add_options(*all, *everything);
  all->footer("It ends with a page of every row, measured or estimated: report.html among the records.\n" +
              std::string(kHow) +
              "  lipschitzlr reproduce all --budget 60m\n"
              "  lipschitzlr reproduce all --dry-run");
  all->callback([everything] { Reproduction(experiment::all_rows(), *everything).run(); });
  auto options = std::make_shared<Options>();
  reproduce.add_option("ROW", options->rows, "rows of any table, such as table1/boston or mnist-cnn-sgd-adaptive")
      ->type_name("");
  add_options(reproduce, *options);
  reproduce.parse_complete_callback([&reproduce] {
    if (reproduce.get_subcommands().empty()) return;
    for (const CLI::Option* option : reproduce.get_options()) {
      if (option->count() == 0) continue;
      throw Error(Fault::usage,
                  fmt::format("{} goes after {}", option->get_name() == "ROW" ? "a row" : option->get_name(),
                              reproduce.get_subcommands()[0]->get_name()));
    }
  });
  reproduce.callback([&reproduce, options] {
    if (!reproduce.get_subcommands().empty()) return;
    if (options->rows.empty())
      throw Error(Fault::usage, "name a table or a row; `lipschitzlr reproduce list` shows them");
    Reproduction(experiment::select_rows(options->rows), *options).run();
  });
}

}  // namespace lipschitzlr::app
