#include <fmt/format.h>

#include "app/options.hpp"
#include "app/reproduce.hpp"
#include "app/torch_part.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/experiment/reproduction.hpp"
#include "lipschitzlr/report/compose.hpp"
#include "lipschitzlr/run/interrupt.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  std::vector<std::string> rows;
  experiment::Limits limits;
  std::string protocol = "coded";
  bool dry_run = false, json = false;
  bool page = false;  // ends with a page of every row
};

void reproduce(const std::vector<experiment::Recipe>& recipes, const Options& options) {
  experiment::Limits limits = options.limits;
  if (options.protocol == "both") limits.protocols = {"coded", "published"};
  if (options.protocol == "published") limits.protocols = {"published"};
  const run::InterruptGuard guard;
  LiveLines status;
  const auto say = [&](const std::string& sentence) {
    status.clear();
    fmt::print(stderr, "lipschitzlr: {}\n", sentence);
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

void add_options(CLI::App& command, Options& options) {
  experiment::Limits& limits = options.limits;
  expect_whole(command.add_option("--epochs", limits.epochs, "epochs in place of the paper's"), 1)->type_name("N");
  add_seeds_option(command, limits, "run every row from this many starts; default: 3, networks 1");
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
    "Every training of a network has a record; the same command continues where Ctrl-C or the budget\n"
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
    reproduce(experiment::select_recipes(table, options->rows), *options);
  });
}

}  // namespace

void add_network_tables(CLI::App& command) {
  add_network_table(command, "table3", "Networks: 37 rows on MNIST, CIFAR-10 and CIFAR-100; needs libtorch",
                    "  lipschitzlr reproduce table3 --dry-run\n"
                    "  lipschitzlr reproduce table3 mnist-cnn-adamo-adaptive --epochs 3\n"
                    "  lipschitzlr reproduce table3 --budget 8h --records runs/table3");
  add_network_table(command, "comparison", "AdaShift, AdaDelta, WN-Adam and AMSGrad on the same networks",
                    "  lipschitzlr reproduce comparison mnist-cnn-adadelta --epochs 6\n"
                    "  lipschitzlr reproduce comparison --dry-run");
  CLI::App* all = command.add_subcommand("all", "Every row of every table, as far as a budget goes");
  auto everything = std::make_shared<Options>();
  everything->page = true;
  add_options(*all, *everything);
  all->footer("It ends with a page of every row, measured or estimated: report.html among the records.\n" +
              std::string(kHow) +
              "  lipschitzlr reproduce all --budget 60m\n"
              "  lipschitzlr reproduce all --dry-run");
  all->callback([everything] { reproduce(experiment::recipes(), *everything); });
  auto options = std::make_shared<Options>();
  command.add_option("ROW", options->rows, "rows of any table, such as table1/boston or mnist-cnn-sgd-adaptive")
      ->type_name("");
  add_options(command, *options);
  command.parse_complete_callback([&command] {
    if (command.get_subcommands().empty()) return;
    for (const CLI::Option* option : command.get_options()) {
      if (option->count() == 0) continue;
      throw Error(Fault::usage,
                  fmt::format("{} goes after {}", option->get_name() == "ROW" ? "a row" : option->get_name(),
                              command.get_subcommands()[0]->get_name()));
    }
  });
  command.callback([&command, options] {
    if (!command.get_subcommands().empty()) return;
    if (options->rows.empty())
      throw Error(Fault::usage, "name a table or a row; `lipschitzlr reproduce list` shows them");
    reproduce(experiment::select_rows(options->rows), *options);
  });
}

}  // namespace lipschitzlr::app
