#include "lipschitzlr/report/compose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/report/formats.hpp"
#include "report/sections.hpp"

namespace lipschitzlr::report {
namespace {

// The words of all verdicts in the order of interest; a new word comes last.
std::vector<Tally> count_verdicts(const std::vector<Table>& tables) {
  std::vector<Tally> tally;
  for (const char* word : {"reproduced", "agrees so far", "differs", "differs so far", "unstable", "artefact"}) {
    tally.push_back({word, 0});
  }
  for (const Table& table : tables) {
    for (const TableRow& row : table.rows) {
      const std::string word = row.verdict.substr(0, row.verdict.find(':'));  // "unstable: 1 of 3"
      auto found = std::find_if(tally.begin(), tally.end(), [&](const Tally& one) { return one.word == word; });
      if (found == tally.end()) found = tally.insert(tally.end(), {word, 0});
      ++found->count;
    }
  }
  std::erase_if(tally, [](const Tally& one) { return one.count == 0; });
  return tally;
}

// "2 differ", "1 is an artefact", "33 were not run"
std::string spoken(const Tally& tally) {
  struct Words {
    const char *word, *one, *many;
  };
  constexpr Words words[] = {{"reproduced", "is reproduced", "are reproduced"},
                             {"agrees so far", "agrees so far", "agree so far"},
                             {"differs", "differs", "differ"},
                             {"differs so far", "differs so far", "differ so far"},
                             {"unstable", "is unstable", "are unstable"},
                             {"artefact", "is an artefact", "are artefacts"},
                             {"another network", "is of another network", "are of another network"},
                             {"no curve", "has no curve to compare with yet", "have no curve to compare with yet"},
                             {"failed", "failed", "failed"},
                             {"other options", "was trained otherwise", "were trained otherwise"},
                             {"not run", "was not run", "were not run"},
                             {"no data", "lacks its data", "lack their data"},
                             {"cut short", "was cut short", "were cut short"}};
  for (const Words& each : words) {
    if (tally.word == each.word) return fmt::format("{} {}", tally.count, tally.count == 1 ? each.one : each.many);
  }
  return fmt::format("{}: {}", tally.word, tally.count);
}

std::string list_text(const std::vector<Tally>& tally) {
  std::vector<std::string> parts;
  for (const Tally& one : tally) parts.push_back(spoken(one));
  return fmt::format("{}", fmt::join(parts, ", "));
}

int count_of(const std::vector<Tally>& tally, const std::vector<std::string>& words) {
  int count = 0;
  for (const Tally& one : tally) count += std::count(words.begin(), words.end(), one.word) > 0 ? one.count : 0;
  return count;
}

// The whole page in a sentence.
std::string bottom_line(const std::vector<Tally>& tally) {
  const int holds = count_of(tally, {"reproduced"}), so_far = count_of(tally, {"agrees so far"});
  const int differs = count_of(tally, {"differs", "differs so far", "unstable", "failed"});
  const int artefacts = count_of(tally, {"artefact"});
  const int judged = holds + so_far + differs + artefacts;
  if (judged == 0) return "No row of the paper can be judged yet from the records given.";
  return fmt::format(
      "Of {} of the paper that can be judged from these records, {} hold up, {} agree with the authors' own curves as "
      "far as they were run, {} come out differently, and {} come from something other than what the paper says.",
      counted(judged, "claim"), holds, so_far, differs, artefacts);
}

std::string table_sentence(const Table& table) {
  const auto measured =
      std::count_if(table.rows.begin(), table.rows.end(), [](const TableRow& row) { return !row.sources.empty(); });
  return fmt::format("{}: {} of {} rows were run; {}.", table.title, measured, table.rows.size(),
                     list_text(count_verdicts({table})));
}

std::string records_sentence(const Table& runs) {
  if (runs.rows.empty()) return "";
  const auto whole =
      std::count_if(runs.rows.begin(), runs.rows.end(), [](const TableRow& row) { return row.verdict == "complete"; });
  const auto others = static_cast<std::ptrdiff_t>(runs.rows.size()) - whole;
  std::string sentence = fmt::format("{} with curves: {} complete", counted(runs.rows.size(), "record"), whole);
  if (others > 0) sentence += fmt::format(", {} cut short, damaged or missing (listed at the end)", others);
  return sentence + ".";
}

std::vector<std::string> summarise(const Document& document) {
  std::vector<std::string> sentences;
  if (!document.tables.empty()) {
    sentences.push_back(
        "The paper says that a learning rate computed from the data, 1/L, trains faster and better than a guessed one. "
        "Here its tables are run again; every verdict is computed from the figures by fixed rules.");
    sentences.push_back(bottom_line(document.tally));
  }
  for (const Table& table : document.tables) sentences.push_back(table_sentence(table));
  const std::string records = records_sentence(document.runs);
  if (!records.empty()) sentences.push_back(records);
  return sentences;
}

// Names of folders differ in characters that an address can't hold.
void make_identifiers_differ(Document& document) {
  std::set<std::string> seen;
  const auto make_new = [&](std::string& id) {
    const std::string wish = id;
    for (int number = 2; !seen.insert(id).second; ++number) id = fmt::format("{}-{}", wish, number);
  };
  for (ChartGroup& group : document.charts) {
    make_new(group.id);
    for (Chart& chart : group.charts) make_new(chart.id);
  }
}

}  // namespace

Document compose(const Collection& collection, const ComposeOptions& options) {
  Document document;
  add_records(collection, document);
  add_tables(collection, experiment::rows_of(options.recipes, collection), options.whole_paper, document);
  add_charts(collection, options.whole_paper, document);
  make_identifiers_differ(document);
  document.tally = count_verdicts(document.tables);
  document.summary = summarise(document);
  document.title = !options.title.empty()    ? options.title
                   : document.tables.empty() ? "Trainings with computed learning rates"
                                             : "LipschitzLR: the paper's claims, run again";
  return document;
}

std::string write_page(const std::string& folder, const ComposeOptions& options) {
  const std::string page = folder + "/report.html";
  write_file_atomically(page, to_html(compose(experiment::collect({folder}), options), folder));
  return std::filesystem::absolute(page).lexically_normal().string();
}

}  // namespace lipschitzlr::report
