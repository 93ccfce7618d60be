#include <fmt/format.h>

#include <filesystem>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/report/compose.hpp"
#include "lipschitzlr/report/formats.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  std::vector<std::string> records;
  std::string output, format = "html";
  report::ComposeOptions compose;
};

std::string text_of(const report::Document& document, const std::string& format, const std::string& output) {
  if (format == "csv") return to_csv(document);
  if (format == "json") return to_json(document);
  if (format == "md") return to_markdown(document);
  return to_html(document, output == "-" ? "." : std::filesystem::path(output).parent_path().string());
}

void make_report(Options options) {
  if (options.output.empty()) options.output = options.format == "html" ? "report.html" : "-";
  const bool to_file = options.output != "-";
  if (to_file) check_writable(options.output);
  const report::Document document = compose(experiment::collect(options.records), options.compose);
  const std::string text = text_of(document, options.format, options.output);
  if (to_file) {
    write_file_atomically(options.output, text);
    fmt::print("{}: {} of the paper, {}, {:.0f} kB\n", options.output, counted(document.tables.size(), "table"),
               counted(document.runs.rows.size(), "record"), static_cast<double>(text.size()) / 1000);
  } else {
    fmt::print("{}", text);
  }
  for (const report::TableRow& row : document.runs.rows) {
    if (row.verdict == "missing" || row.verdict == "damaged") {
      fmt::print(stderr, "lipschitzlr: {}: {}: {}\n", row.id, row.verdict, row.reasons.front());
    }
  }
}

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Make one page of records: tables, charts, verdicts");
  auto options = std::make_shared<Options>();
  command
      ->add_option("RECORD", options->records,
                   "folders of `train` and `fit --record`, folders of such folders, files that "
                   "`reproduce table1 --json` printed")
      ->required()
      ->type_name("");
  command
      ->add_option("-o,--output", options->output,
                   "the file to write, - for standard output; default: report.html, for other formats -")
      ->type_name("FILE");
  command->add_option("--format", options->format, "default: html")
      ->check(CLI::IsMember({"html", "csv", "json", "md"}))
      ->type_name("html|csv|json|md");
  command->add_option("--title", options->compose.title, "of the page")->type_name("TEXT");
  command->add_flag("--whole-paper", options->compose.whole_paper,
                    "show every table of the paper, also those of which no row was run");
  fold_help(*command);
  command->footer(
      "The page holds all it needs: it opens from a file, without a network, and can be printed. A record\n"
      "that is missing, cut short or damaged is shown as such.\n"
      "Examples:\n"
      "  lipschitzlr reproduce table1 boston iris --json > table1.json\n"
      "  lipschitzlr report table1.json runs -o report.html\n"
      "  lipschitzlr report runs --format md");
  command->callback([options] { make_report(*options); });
}

}  // namespace lipschitzlr::app
