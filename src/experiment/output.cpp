#include "lipschitzlr/experiment/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "experiment/output_json.hpp"
#include "experiment/row_file.hpp"
#include "lipschitzlr/experiment/linear_runner.hpp"
#include "lipschitzlr/experiment/text_table.hpp"
#include "lipschitzlr/experiment/verdict.hpp"

namespace lipschitzlr::experiment {
namespace {

using Json = nlohmann::ordered_json;

// A row takes a line with the means over the seeds and, where they differ, two more with the least and the most.
enum class Line { mean, least, most };

struct Column {
  TextColumn heading;
  std::function<std::string(const Row&, Line)> cell;
};

std::string name_cell(const Row& row, Line line) {
  return line == Line::mean ? row.recipe.name : line == Line::least ? "  least" : "  most";
}

// What the three lines of a row have in common is on the first.
Column once(const TextColumn& heading, std::function<std::string(const Row&)> text) {
  return {heading, [text](const Row& row, Line line) { return line == Line::mean ? text(row) : ""; }};
}

template <class Format>
std::string spread_cell(const Spread& spread, Line line, Format&& format) {
  if (spread.count == 0) return line == Line::mean ? "-" : "";
  if (line == Line::mean) return format(spread.mean);
  return spread.least == spread.most ? "" : format(line == Line::least ? spread.least : spread.most);
}

Column rates(const TextColumn& heading, const char* rate) {
  return {heading, [rate](const Row& row, Line line) { return spread_cell(rate_of(row, rate), line, format_rate); }};
}

// An average over trainings of which some were cut short would be no average: then only the bound is given.
Column counts(const TextColumn& heading, const char* rate) {
  return {heading, [rate](const Row& row, Line line) -> std::string {
            const Spread spread = iterations_of(row, rate);
            if (spread.diverged) return line == Line::mean ? "diverged" : "";
            if (!spread.complete) return line == Line::mean ? fmt::format(">{:.0f}", spread.most) : "";
            return spread_cell(spread, line, [](double count) {
              return fmt::format("{:.{}f}", count, count < 10 && count != std::round(count) ? 1 : 0);
            });
          }};
}

Column accuracies(const TextColumn& heading, Spread (*of)(const Row&, const std::string&), const std::string& rate) {
  return {heading, [of, rate](const Row& row, Line line) {
            const Spread spread = of(row, rate);
            const char* const mark = spread.complete || row.recipe.network ? "" : "*";
            return spread_cell(spread, line, [&](double percent) { return fmt::format("{:.2f}{}", percent, mark); });
          }};
}

std::string draw(const std::vector<Column>& columns, const std::vector<const Row*>& rows) {
  std::vector<TextColumn> headings;
  for (const Column& column : columns) headings.push_back(column.heading);
  std::vector<std::vector<std::string>> lines;
  for (const Row* row : rows) {
    for (const Line line : {Line::mean, Line::least, Line::most}) {
      std::vector<std::string> cells;
      for (const Column& column : columns) cells.push_back(column.cell(*row, line));
      const bool says_something =
          std::any_of(cells.begin() + 1, cells.end(), [](const std::string& cell) { return !cell.empty(); });
      if (says_something) lines.push_back(std::move(cells));
    }
  }
  return draw_table(headings, lines);
}

// A figure of the paper.
Column paper(const TextColumn& heading, double LinearTraining::Paper::*figure, const char* format) {
  return once(heading,
              [=](const Row& row) { return fmt::format(fmt::runtime(format), row.recipe.linear->paper.*figure); });
}

Column verdicts() {
  return once({"", "verdict", true}, [](const Row& row) { return judge(row).text(); });
}

using Paper = LinearTraining::Paper;

Column paper_rates() {
  return once({"1/L", "paper"}, [](const Row& row) { return format_rate(row.recipe.linear->paper.rate); });
}

std::vector<Column> count_columns() {
  return {{{"", "data set", true}, name_cell},
          once({"", "T"}, [](const Row& row) { return format_rate(*row.recipe.linear->threshold); }),
          paper_rates(),
          rates({"1/L", "publ."}, "published"),
          rates({"1/L", "coded"}, "coded"),
          paper({"E 0.1", "paper"}, &Paper::baseline, "{:.0f}"),
          counts({"E 0.1", "ours"}, "baseline"),
          paper({"E 1/L", "paper"}, &Paper::computed, "{:.0f}"),
          counts({"E 1/L", "publ."}, "published"),
          counts({"E 1/L", "coded"}, "coded"),
          counts({"", "1/beta"}, "gradient"),
          verdicts()};
}

std::vector<Column> accuracy_columns() {
  return {{{"", "data set", true}, name_cell},
          once({"", "N_E"}, [](const Row& row) { return fmt::format("{}", *row.recipe.linear->epochs); }),
          paper_rates(),
          rates({"1/L", "ours"}, "coded"),
          paper({"A 0.1", "paper"}, &Paper::baseline, "{:.2f}"),
          accuracies({"A 0.1", "ours"}, accuracy_of, "baseline"),
          paper({"A 1/L", "paper"}, &Paper::computed, "{:.2f}"),
          accuracies({"A 1/L", "ours"}, accuracy_of, "coded"),
          accuracies({"A for comparison", "certif."}, accuracy_of, "certified"),
          accuracies({"A for comparison", "1/beta"}, accuracy_of, "gradient"),
          once({"", "majority"},
               [](const Row& row) { return row.runs.empty() ? "-" : fmt::format("{:.2f}", 100 * row.majority); }),
          verdicts()};
}

std::string legend(const Row& row) {
  const std::string seeds =
      fmt::format("Ours: mean of {}, then the least and the most where they differ.", counted(row.seeds, "seed"));
  if (!row.recipe.linear->counts_iterations()) {
    return wrap("", seeds +
                        " A: accuracy in percent after N_E epochs with the rate 0.1, with 1/L, with 1/L certified, "
                        "with 1/beta; *: fewer epochs were done. majority: the share of the largest class.");
  }
  const auto most = static_cast<double>(row.max_iterations);
  return wrap(
      "",
      fmt::format("{} E: measurements of the loss until it is below T, with the rate 0.1, with 1/L as "
                  "published and as coded, and with 1/beta. >N: not below T after N (the limits are {} and, "
                  "for 1/beta, {}).",
                  seeds, format_count(most), format_count(std::min(most, static_cast<double>(kComparisonIterations)))));
}

// What there is to say about a row, numbered under its name and verdict.
std::string notes_text(const Row& row) {
  std::string text = "\n" + wrap("", fmt::format("{} ({}): {}", row.recipe.name, row.recipe.title, judge(row).text()));
  int number = 0;
  for (const std::string& note : notes_of(row)) text += wrap(fmt::format("  {}. ", ++number), note);
  return text;
}

std::vector<Column> network_columns(const std::string& protocol) {
  return {{{"", "row", true}, name_cell},
          once({"", "epochs"},
               [=](const Row& row) {
                 return fmt::format("{:.0f}/{}", iterations_of(row, protocol).most, row.recipe.network->epochs);
               }),
          accuracies({"ours", "best"}, accuracy_of, protocol),
          accuracies({"ours", "last"}, last_accuracy_of, protocol),
          once({"", "curve"},
               [=](const Row& row) {
                 const run::Record* const curve = authors_curve(row.recipe.network->curve);
                 const auto epochs = static_cast<std::size_t>(iterations_of(row, protocol).most);
                 if (curve == nullptr || epochs == 0) return std::string("-");
                 return fmt::format("{:.2f}", best_accuracy(*curve, epochs).percent());
               }),
          once({"", "paper"}, [](const Row& row) { return fmt::format("{:.2f}", row.recipe.network->paper_accuracy); }),
          once({"", protocol == "coded" ? "verdict" : "", true},
               [=](const Row& row) { return protocol == "coded" ? judge(row).text() : ""; })};
}

bool is_of(const NetworkTask& task, const Row& row, const std::string& protocol) {
  return task.recipe.id() == row.recipe.id() && task.protocol == protocol;
}

std::vector<const Row*> rows_under(const std::string& protocol, const std::vector<Row>& rows,
                                   const std::vector<NetworkTask>& tasks) {
  std::vector<const Row*> list;
  for (const Row& row : rows) {
    const bool planned =
        std::any_of(tasks.begin(), tasks.end(), [&](const NetworkTask& task) { return is_of(task, row, protocol); });
    if (planned) list.push_back(&row);
  }
  return list;
}

std::string open_text(const std::vector<NetworkTask>& tasks) {
  std::vector<std::vector<std::string>> lines;
  double total = 0;
  for (const NetworkTask& task : tasks) {
    if (!task.open()) continue;
    total += task.hours_left();
    lines.push_back({task.recipe.name, task.protocol, std::to_string(task.seed), std::to_string(task.done),
                     std::to_string(task.wanted),
                     task.epoch_seconds > 0 ? format_duration(3600 * task.hours_left()) : "-"});
  }
  if (lines.empty()) return "";
  return "\nStill to do; run the same command again to continue:\n" +
         draw_table({{"", "row", true},
                     {"", "protocol", true},
                     {"", "seed"},
                     {"epochs", "done"},
                     {"epochs", "asked"},
                     {"", "about"}},
                    lines) +
         (total > 0 ? fmt::format("Together {}.\n", format_duration(3600 * total)) : "");
}

}  // namespace

std::string to_text(const std::vector<Row>& rows) {
  std::vector<const Row*> all;
  for (const Row& row : rows) all.push_back(&row);
  const bool counting = rows[0].recipe.linear->counts_iterations();
  std::string text = draw(counting ? count_columns() : accuracy_columns(), all) + "\n" + legend(rows[0]);
  for (const Row& row : rows) text += notes_text(row);
  return text;
}

std::string to_json(const std::vector<Row>& rows) { return judged_json(rows).dump(2) + "\n"; }

Json judged_json(const std::vector<Row>& rows) {
  Json json = table_json(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json["rows"][i]["verdict"] = judge(rows[i]).text();
    json["rows"][i]["notes"] = notes_of(rows[i]);
  }
  return json;
}

std::string to_csv(const std::vector<Row>& rows) {
  std::string text = "table,row,seed,rate_name,rate,iterations,complete,loss,accuracy,paper,verdict\n";
  for (const Row& row : rows) {
    const LinearTraining& training = *row.recipe.linear;
    const std::string lead = row.recipe.table + "," + row.recipe.name, word = judge(row).text();
    if (row.runs.empty()) text += fmt::format("{},,,,,,,,,{}\n", lead, word);
    for (const Run& run : row.runs) {
      const bool baseline = run.rate_name == "baseline";
      const std::string accuracy = training.counts_iterations() ? "" : fmt::format("{}", run.accuracy);
      std::string figure;
      if (baseline || row.recipe.has(run.rate_name)) {
        figure = fmt::format("{}", baseline ? training.paper.baseline : training.paper.computed);
      }
      text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", lead, run.seed, run.rate_name, run.rate, run.iterations,
                          run.complete, run.loss, accuracy, figure, word);
    }
  }
  return text;
}

std::string to_text(const std::vector<Row>& rows, const std::vector<NetworkTask>& tasks) {
  std::string text;
  for (const std::string protocol : {"coded", "published"}) {
    const std::vector<const Row*> under = rows_under(protocol, rows, tasks);
    if (under.empty()) continue;
    text += fmt::format("{}As {}, accuracy in percent:\n", text.empty() ? "" : "\n", protocol);
    text += draw(network_columns(protocol), under);
  }
  text += "\n" + wrap("",
                      "epochs: done, and those of the paper. ours: means over the seeds that got that far, then the "
                      "least and the most where they differ. curve: the best of the authors' curve up to the epoch we "
                      "are at. paper: the figure it prints, the best of all epochs on the test set.");
  text += open_text(tasks);
  for (const Row* row : rows_under("coded", rows, tasks)) text += notes_text(*row);
  return text;
}

Json judged_json(const std::vector<Row>& rows, const std::vector<NetworkTask>& tasks) {
  Json list = Json::array();
  for (const std::string protocol : {"coded", "published"}) {
    for (const Row* row : rows_under(protocol, rows, tasks)) {
      const Verdict verdict = judge(*row);
      Json json = recipe_json(row->recipe);
      json["protocol"] = protocol;
      json["verdict"] = verdict.text();
      json["reasons"] = verdict.reasons;
      json["caveats"] = row->recipe.caveats;
      json["absent"] = row->absent;
      json["records"] = runs_json(*row, protocol);
      double hours = 0;
      bool estimated = true;
      for (const NetworkTask& task : tasks) {
        if (!is_of(task, *row, protocol)) continue;
        hours += task.hours_left();
        estimated &= task.epoch_seconds > 0;
        json["trainings"].push_back({{"folder", task.folder},
                                     {"seed", task.seed},
                                     {"epochs", task.done},
                                     {"asked", task.wanted},
                                     {"failure", task.failure}});
      }
      if (estimated) json["hours_left"] = hours;
      list.push_back(json);
    }
  }
  return list;
}

}  // namespace lipschitzlr::experiment
