#include "lipschitzlr/report/formats.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "report/html.hpp"

namespace lipschitzlr::report {
namespace {

constexpr const char* kHostile = "</script><script>alert('x')</script> \"&\" <!--";

// One table with one figure of ours, one of the paper and a row that was not run; one chart.
Document small_document(const std::string& name) {
  Document document;
  document.title = "Title of " + name;
  document.summary = {"One | two."};
  document.tally = {{"differs", 1}, {"not run", 1}};
  document.sources = {{name, "runs/" + name, "lipschitzlr fit '" + name + "'", "complete", {}}};
  Table table;
  table.id = "table1";
  table.title = "Table 1: speed";
  table.about = "About it.";
  table.columns = {{"", "data set", false}, {"rate", "paper"}, {"rate", "ours"}};
  TableRow row;
  row.id = "table1/" + name;
  row.cells = {{name, kNoNumber, kNoSource, ""}, {"9.3", 9.316, kNoSource, ""}, {"8.3", 8.3133, 0, "8.2 to 8.4"}};
  row.verdict = "differs";
  row.reasons = {"Differs: 1/L.", "A caveat."};
  row.sources = {0};
  TableRow other;
  other.id = "table1/news";
  other.cells = {{"news", kNoNumber, kNoSource, ""}, {"1.4", 1.462, kNoSource, ""}, {"–", kNoNumber, kNoSource, ""}};
  other.verdict = "not run";
  other.hint = "lipschitzlr reproduce table1 news";
  table.rows = {row, other};
  document.tables = {table};
  document.runs.id = "runs";
  Chart chart{"loss", "Loss of " + name, "", {"epoch", false, kNoNumber}, {"loss", true, kNoNumber}, {}, false};
  chart.series = {{name, Role::validation, 0, {1, 2}, {0.5, 1.0 / 3}}};
  document.charts = {{"group", "Group", "", {chart}}};
  return document;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t number = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++number;
  return number;
}

// 37 rows of 300 epochs from three seeds, each in six charts beside the authors' curve.
TEST(Formats, APageOfTheWholePaperStaysSmallAndItsJsonWhole) {
  Document document = small_document("a");
  Series series{"a", Role::validation, 0, {}, {}};
  for (int epoch = 1; epoch <= 300; ++epoch) {
    series.x.push_back(epoch);
    series.y.push_back(epoch / 7.0);
  }
  for (int chart = 0; chart < 3 * 37; ++chart) {
    document.charts[0].charts.push_back(document.charts[0].charts[0]);
    document.charts[0].charts.back().series.assign(11, series);
  }
  const std::string page = to_html(document, "runs");
  EXPECT_LT(page.size(), 1'500'000u);
  EXPECT_NE(page.find("[1,2,3,4,5,6,7,8,9,10,11,"), std::string::npos) << "the first epochs";
  EXPECT_NE(page.find(",300],"), std::string::npos) << "and the last";
  EXPECT_EQ(nlohmann::json::parse(to_json(document))["charts"].back()["series"][0]["x"].size(), 300u);
}

TEST(Formats, CsvHasALineForEveryFigure) {
  EXPECT_EQ(to_csv(small_document("a,\"b\"")),
            "table,row,figure,value,verdict,record,command\n"
            "table1,\"table1/a,\"\"b\"\"\",rate: paper,9.316,differs,,\n"
            "table1,\"table1/a,\"\"b\"\"\",rate: ours,8.3133,differs,\"runs/a,\"\"b\"\"\",\"lipschitzlr fit "
            "'a,\"\"b\"\"'\"\n"
            "table1,table1/news,rate: paper,1.462,not run,,\n");
}

TEST(Formats, JsonHasFiguresReasonsSourcesAndCurves) {
  const auto json = nlohmann::json::parse(to_json(small_document("boston")));
  EXPECT_EQ(json["verdicts"]["differs"], 1);
  const auto& row = json["tables"][0]["rows"][0];
  EXPECT_EQ(row["figures"]["rate: ours"], 8.3133);
  EXPECT_EQ(row["reasons"][1], "A caveat.");
  EXPECT_EQ(row["sources"][0]["command"], "lipschitzlr fit 'boston'");
  EXPECT_TRUE(json["tables"][0]["rows"][1]["figures"]["rate: ours"].is_null());
  EXPECT_EQ(json["tables"][0]["rows"][1]["command"], "lipschitzlr reproduce table1 news");
  EXPECT_EQ(json["charts"][0]["series"][0]["y"][1], 0.333333);
}

TEST(Formats, MarkdownIsTablesWithTheReasonsBelow) {
  EXPECT_EQ(to_markdown(small_document("a|b")),
            "# Title of a\\|b\n\n"
            "One \\| two.\n\n"
            "## Table 1: speed\n\nAbout it.\n\n"
            "| data set | rate: paper | rate: ours | verdict |\n"
            "|---|---:|---:|---|\n"
            "| a\\|b | 9.3 | 8.3 (8.2 to 8.4) | differs |\n"
            "| news | 1.4 | – | not run |\n\n"
            "* **table1/a\\|b**: differs. Differs: 1/L. A caveat. `lipschitzlr fit 'a|b'`\n"
            "* **table1/news**: not run. To run it: `lipschitzlr reproduce table1 news`\n\n");
}

TEST(Formats, NoNameCanBecomePartOfThePage) {
  const std::string plain = to_html(small_document("boston"), "."), hostile = to_html(small_document(kHostile), ".");
  for (const char* tag : {"<script", "</script", "<!--", "<td", "<a "}) {
    EXPECT_EQ(count(hostile, tag), count(plain, tag)) << tag;
  }
  EXPECT_EQ(hostile.find("alert('x')"), hostile.find("alert('x')", hostile.find("application/json")))
      << "outside the data every quote is escaped";
  EXPECT_NE(hostile.find("&lt;/script&gt;&lt;script&gt;alert(&#39;x&#39;)"), std::string::npos);
}

TEST(Formats, ThePageLoadsNothingAndLinksItsFigures) {
  const std::string page = to_html(small_document("boston"), ".");
  EXPECT_NE(page.find("Chart.js v3"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find(" src="), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_NE(page.find("<a href=\"runs/boston\" title=\"made by: lipschitzlr fit &#39;boston&#39;\">8.3</a>"),
            std::string::npos);
  EXPECT_LT(page.size(), 1'500'000u);
}

TEST(RelativeLink, LeadsFromThePageToTheRecord) {
  EXPECT_EQ(relative_link("runs/a", "."), "runs/a");
  EXPECT_EQ(relative_link("runs/a", "pages/today"), "../../runs/a");
  EXPECT_EQ(relative_link("/usr", "/usr/lib"), "../");
  EXPECT_EQ(relative_link("a b#c?d%", ""), "a%20b%23c%3Fd%25");
  EXPECT_EQ(relative_link("javascript:alert(1)", ""), "javascript%3Aalert%281%29");
}

TEST(Html, EscapesTextAndForbiddenCharacters) {
  EXPECT_EQ(escaped("<a href=\"x\" title='y'>&\x01"), "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp; ");
  EXPECT_EQ(element("p", {{"title", "\"<"}}, "<b>kept</b>"), "<p title=\"&quot;&lt;\"><b>kept</b></p>");
}

TEST(Html, JsonInAScriptHoldsNoTag) {
  const std::string safe = json_for_script(R"({"a":"</script><!--"})");
  EXPECT_EQ(safe.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(safe)["a"], "</script><!--");
}

TEST(Html, ValuesOfATemplateAreNotLookedInto) {
  EXPECT_EQ(fill_template("1{{a}}2{{b}}3", {{"a", "{{b}}"}, {"b", "x"}}), "1{{b}}2x3");
  EXPECT_THROW(fill_template("{{c}}", {}), Error);
}

}  // namespace
}  // namespace lipschitzlr::report
