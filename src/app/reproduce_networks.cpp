#include <fmt/format.h>

#include <filesystem>

#include "app/reproduce.hpp"
#include "app/torch_part.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/experiment/reproduction.hpp"
#include "lipschitzlr/report/compose.hpp"
#include "lipschitzlr/run/interrupt.hpp"

namespace lipschitzlr::app {
namespace {

struct NetworkRows {
  std::vector<std::string> rows;
  experiment::Limits limits;
  enum class Protocol { coded, published, both } protocol = Protocol::coded;
  bool dry_run = false, json = false;
  bool page = false;  // ends with a page of every row
};

void reproduce(const std::vector<experiment::Recipe>& recipes, const NetworkRows& options) {
  experiment::Limits limits = options.limits;
  if (!limits.data.empty() && data::catalogue::find(limits.data) == nullptr &&
      !std::filesystem::is_directory(limits.data)) {
    throw Error(Fault::usage,
                fmt::format("--data {}: there is no such folder, and no data set of that name", limits.data));
  }
  if (options.protocol == NetworkRows::Protocol::both) limits.protocols = {"coded", "published"};
  if (options.protocol == NetworkRows::Protocol::published) limits.protocols = {"published"};
  const run::InterruptGuard guard;
  LiveLines status;
  const auto say = [&](const std::string& sentence) {
    status.clear();
    print_stderr("lipschitzlr: {}\n", sentence);
  };
  experiment::Hooks hooks{run_torch_part, say, {}, [&] { return guard.interrupted(); }};
  if (status.on()) hooks.progress = [&](const std::string& sentence) { status.draw({sentence}); };
  experiment::Reproduction reproduction(recipes, limits, hooks);
  if (reproduction.has_networks() && find_torch_part().empty()) start_torch_part({});  // says what is missing
  const std::string text = options.dry_run ? reproduction.estimate(options.json) : reproduction.run(options.json);
  status.clear();
  if (options.dry_run && guard.interrupted()) throw Error(Fault::interrupted, "interrupted; nothing was measured");
  fmt::print("{}", text);
  if (options.page && !options.dry_run) {
    say("the page of all rows: " + report::write_page(limits.records, {.title = "", .whole_paper = true}));
  }
  if (guard.interrupted()) {
    throw Error(Fault::interrupted, "interrupted; what was finished is above, run the same command again to continue");
  }
}

run::Options options_of(NetworkRows& options) {
  experiment::Limits& limits = options.limits;
  return {
      {"epochs", &limits.epochs, "epochs in place of the paper's", run::at_least(1)},
      {"seeds", &limits.seeds, "run every row from this many starts; default: 3, networks 1", run::between(1, 1000)},
      budget_option(limits.seconds),
      {"records", &limits.records, "folder of the records", run::Placeholder{"FOLDER"}},
      {"protocol", run::choice(options.protocol, {"coded", "published", "both"}),
       "protocol of networks: what the authors ran, or the paper's text"},
      {"data", &limits.data, "train networks on these images instead, for a try", run::Placeholder{"FOLDER"}},
      {"limit", &limits.images, "train networks on so many images only, for a try", run::at_least(1)},
      {"dry_run", &options.dry_run, "run nothing: measure how fast networks train, and say how long"},
      run::threads_option(limits.threads, run::Bits::differ),
      run::json_option(options.json)};
}

constexpr const char* kHow =
    "Every training of a network has a record; the same command continues where Ctrl-C or the budget\n"
    "ended it. A budget is shared in rounds: all trainings to 1 epoch, then to 2, 4, 8, ..., short\n"
    "epochs first; an epoch that no longer fits is not started.";

Command network_table(const std::string& table, const std::string& summary, const std::string& examples) {
  const auto options = std::make_shared<NetworkRows>();
  return {.name = table,
          .summary = summary,
          .options = run::Options{{"rows", &options->rows,
                                   "rows to run, see `lipschitzlr reproduce list`; default: all", run::Flags{"ROW"}}} +
                     options_of(*options),
          .run = [table, options](
                     const Call&) { return reproduce(experiment::select_recipes(table, options->rows), *options), 0; },
          .details = kHow,
          .examples = examples};
}

}  // namespace

std::vector<Command> network_table_commands() {
  const auto all = std::make_shared<NetworkRows>();
  all->page = true;
  return {network_table("table3", "Networks: 37 rows on MNIST, CIFAR-10 and CIFAR-100; needs libtorch",
                        "reproduce table3 --dry-run\n"
                        "reproduce table3 mnist-cnn-adamo-adaptive --epochs 3\n"
                        "reproduce table3 --budget 8h --records runs/table3"),
          network_table("comparison", "AdaShift, AdaDelta, WN-Adam and AMSGrad on the same networks",
                        "reproduce comparison mnist-cnn-adadelta --epochs 6\n"
                        "reproduce comparison --dry-run"),
          network_table("text", "What the paper's text claims beside its tables",
                        "reproduce text --dry-run\n"
                        "reproduce text cifar10-resnet20-auto-adam-k2-1e-6 --epochs 3"),
          {.name = "all",
           .summary = "Every row of every table, as far as a budget goes",
           .options = options_of(*all),
           .run = [all](const Call&) { return reproduce(experiment::recipes(), *all), 0; },
           .details = "It ends with a page of every row, measured or estimated: report.html among the records.\n" +
                      std::string(kHow),
           .examples = "reproduce all --budget 60m\n"
                       "reproduce all --dry-run"}};
}

Command network_rows_command() {
  const auto options = std::make_shared<NetworkRows>();
  const run::Option rows = {"rows", &options->rows,
                            "rows of any table, such as table1/boston or mnist-cnn-sgd-adaptive", run::Flags{"ROW"}};
  return {.name = "rows",
          .summary = "",
          .options = run::Options{rows} + options_of(*options),
          .run = [options](const Call&) {
            if (options->rows.empty()) {
              throw Error(Fault::usage, "name a table or a row; `lipschitzlr reproduce list` shows them");
            }
            return reproduce(experiment::select_rows(options->rows), *options), 0;
          }};
}

}  // namespace lipschitzlr::app
