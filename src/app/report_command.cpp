#include <fmt/format.h>

#include <filesystem>

#include "app/commands.hpp"
#include "app/output_file.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/report/compose.hpp"
#include "lipschitzlr/report/formats.hpp"

namespace lipschitzlr::app {
namespace {

enum class Format { html, csv, json, md };

struct ReportState {
  std::vector<std::string> records;
  std::string output;
  Format format = Format::html;
  std::string title;
  bool whole_paper = false;
};

std::string text_of(const report::Document& document, Format format, const std::string& output) {
  if (format == Format::csv) return to_csv(document);
  if (format == Format::json) return to_json(document);
  if (format == Format::md) return to_markdown(document);
  return to_html(document, output == "-" ? "." : std::filesystem::path(output).parent_path().string());
}

// Returns the exit code: a page is made in any case, but one that lacks something is not all that was asked for.
int make_report(ReportState options) {
  if (options.output.empty()) options.output = options.format == Format::html ? "report.html" : "-";
  const bool to_file = options.output != "-";
  check_output(options.output, options.records);
  // Made here and not with the command: it has the recipes, which would be read at the start of every other command
  // too.
  const report::ComposeOptions compose_options{.title = options.title, .whole_paper = options.whole_paper};
  const report::Document document = compose(experiment::collect(options.records), compose_options);
  const std::string text = text_of(document, options.format, options.output);
  if (to_file) {
    write_file_atomically(options.output, text);
    fmt::print("{}: {} of the paper, {}, {:.0f} kB\n", options.output, counted(document.tables.size(), "table"),
               counted(document.runs.rows.size(), "record"), static_cast<double>(text.size()) / 1000);
  } else {
    fmt::print("{}", text);
  }
  int code = 0;
  for (const report::TableRow& row : document.runs.rows) {
    if (row.verdict != "missing" && row.verdict != "damaged") continue;
    print_stderr("lipschitzlr: {}: {}: {}\n", row.id, row.verdict, row.reasons.front());
    code = static_cast<int>(Fault::data);
  }
  return code;
}

}  // namespace

Command report_command() {
  const auto options = std::make_shared<ReportState>();
  return {.name = "report",
          .summary = "Make one page of records: tables, charts, verdicts",
          .options = {{"records", &options->records,
                       "folders of `train` and `fit --record`, folders of such folders, files that `reproduce table1 "
                       "--json` printed",
                       run::Flags{"RECORD"}, run::kRequired},
                      {"output", &options->output,
                       "the file to write, - for standard output; default: report.html, for other formats -",
                       run::Placeholder{"FILE"}, run::Flags{"-o,--output"}},
                      {"format", run::choice(options->format, {"html", "csv", "json", "md"}), "format of the page"},
                      {"title", &options->title, "title of the page", run::Placeholder{"TEXT"}},
                      {"whole_paper", &options->whole_paper,
                       "show every table of the paper, also those of which no row was run"}},
          .run = [options](const Call&) { return make_report(*options); },
          .details =
              "The page holds all it needs: it opens from a file, without a network, and can be printed. A record\n"
              "that is missing, cut short or damaged is shown as such; for missing and damaged ones the exit code\n"
              "is 3.",
          .examples =
              "reproduce table1 boston iris --json > table1.json\n"
              "report table1.json runs -o report.html\n"
              "report runs --format md"};
}

}  // namespace lipschitzlr::app
