#include "lipschitzlr/report/compose.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/report/formats.hpp"
#include "run/scratch.hpp"

namespace lipschitzlr::report {
namespace {

constexpr const char* kTable = R"({"table": "table1", "seeds": 3, "max_iterations": 500000, "rows": [
  {"name": "iris", "verdict": "wonderful", "notes": ["By hand."], "seeds_done": 3, "rows": 105, "zero_loss": 1.0986,
   "runs": [{"rate_name": "coded", "seed": 1, "rate": 1.9141, "iterations": 24, "complete": true, "loss": 0.19, "stop": "the loss fell below the threshold"},
            {"rate_name": "coded", "seed": 2, "rate": 1.9232, "iterations": 33, "complete": true, "loss": 0.19, "stop": "the loss fell below the threshold"},
            {"rate_name": "coded", "seed": 3, "rate": 1.9254, "iterations": 48, "complete": true, "loss": 0.19, "stop": "the loss fell below the threshold"},
            {"rate_name": "baseline", "seed": 1, "rate": 0.1, "iterations": 500000, "complete": false, "loss": 0.19, "stop": "all epochs are done"}]}]})";

class ComposeTest : public Scratch {
 protected:
  const Table& table(const Document& document, const std::string& id) {
    const auto found =
        std::find_if(document.tables.begin(), document.tables.end(), [&](const Table& each) { return each.id == id; });
    if (found == document.tables.end()) throw std::runtime_error("there is no table " + id);
    return *found;
  }
  const TableRow& row(const Table& in, const std::string& id) {
    const auto found =
        std::find_if(in.rows.begin(), in.rows.end(), [&](const TableRow& each) { return each.id == id; });
    if (found == in.rows.end()) throw std::runtime_error("there is no row " + id);
    return *found;
  }
};

TEST_F(ComposeTest, ARowHasThePapersFiguresBesideOursWithTheirSource) {
  write("table1.json", kTable);
  const Document document = compose(experiment::collect({folder + "/table1.json"}));
  const Table& first = table(document, "table1");
  ASSERT_EQ(document.tables.size(), 1u) << "a table nothing was run of is left out";
  const TableRow& iris = row(first, "table1/iris");
  EXPECT_EQ(iris.verdict, "differs");
  EXPECT_EQ(iris.reasons.at(0),
            "Differs: iterations with the rate 0.1: the paper has 413, we measure more than 500,000.");
  const auto cell = [&](const std::string& group, const std::string& head) {
    for (std::size_t i = 0; i < first.columns.size(); ++i) {
      if (first.columns[i].group == group && first.columns[i].head == head) return iris.cells[i];
    }
    throw std::runtime_error("there is no column " + head);
  };
  EXPECT_EQ(cell("1/L", "paper").value, 1.902);
  EXPECT_EQ(cell("1/L", "ours, coded").text, "1.9209");
  EXPECT_EQ(cell("iterations, rate 1/L", "paper").value, 49);
  EXPECT_EQ(cell("iterations, rate 1/L", "ours, coded").remark, "24–48");
  EXPECT_EQ(cell("iterations, rate 0.1", "ours").text, "> 500,000");
  const int source = cell("iterations, rate 1/L", "ours, coded").source;
  ASSERT_NE(source, kNoSource);
  EXPECT_EQ(document.sources[static_cast<std::size_t>(source)].command, "lipschitzlr reproduce table1 iris --seeds 3");
}

TEST_F(ComposeTest, RowsThatWereNotRunSayHowToRunThem) {
  write("table1.json", kTable);
  const Document document = compose(experiment::collect({folder + "/table1.json"}));
  const TableRow& digits = row(table(document, "table1"), "table1/digits");
  EXPECT_EQ(digits.verdict, "not run");
  EXPECT_EQ(digits.hint, "lipschitzlr reproduce table1/digits");
  EXPECT_TRUE(digits.sources.empty());
}

TEST_F(ComposeTest, TheWholePaperHasEveryTableAndItsPanels) {
  const Document document = compose({}, {.title = "", .whole_paper = true});
  EXPECT_EQ(table(document, "table1").rows.size(), 8u);
  EXPECT_EQ(table(document, "table2").rows.size(), 5u);
  EXPECT_EQ(table(document, "table3").rows.size(), 37u);
  EXPECT_EQ(document.charts.back().charts.size(), 9u);
  int rows = 0;
  for (const Tally& one : document.tally) rows += one.count;
  EXPECT_GE(rows, 50);
}

TEST_F(ComposeTest, ANetworkIsPutBesideItsRowAndTheAuthorsCurve) {
  write_network_record("runs/ours");
  const Document document = compose(experiment::collect({folder + "/runs"}));
  const TableRow& adamo = row(table(document, "table3"), "table3/cifar10-resnet20-adamo-adaptive-1e-3");
  EXPECT_EQ(adamo.sources, std::vector<int>{0});
  EXPECT_EQ(adamo.cells.back().value, 50) << "the best of our two epochs, coded";
  const Chart& accuracy = document.charts.at(0).charts.at(0);
  EXPECT_EQ(accuracy.x.end, 2);
  const auto authors = std::find_if(accuracy.series.begin(), accuracy.series.end(),
                                    [](const Series& series) { return series.role == Role::authors; });
  ASSERT_NE(authors, accuracy.series.end());
  EXPECT_EQ(authors->x.size(), 300u);
}

TEST_F(ComposeTest, SeedsOfARowAreShownByTheirMeanAndSpread) {
  write_network_record("runs/first");
  write_network_record("runs/second");
  write("runs/second/config.json", R"({"kind": "network training",
      "options": {"data": "cifar10", "network": "resnet20-v1", "optimizer": "adamo", "policy": "adaptive",
                  "protocol": "coded", "epochs": 2, "decay": 0.001, "seed": 8, "threads": 2}})");
  write("runs/second/metrics.jsonl", epoch_line(1, "1.5", "0.4", "2") + epoch_line(2, "1.4", "0.6", "3"));
  const Document document = compose(experiment::collect({folder + "/runs"}));
  const Cell& coded = row(table(document, "table3"), "table3/cifar10-resnet20-adamo-adaptive-1e-3").cells.back();
  EXPECT_NEAR(coded.value, 55, 1e-9);
  EXPECT_EQ(coded.remark, "best of 2 epochs, 2 seeds: 50.00–60.00");
}

TEST_F(ComposeTest, NothingThatIsDamagedStopsThePage) {
  write_network_record("runs/good");
  write("runs/damaged/config.json", "{");
  write("runs/empty/metrics.jsonl", "");
  write("runs/table1.json", "{\"table\":");
  const Document document = compose(experiment::collect({folder + "/runs", folder + "/nowhere"}));
  ASSERT_EQ(document.runs.rows.size(), 5u);
  EXPECT_EQ(document.runs.rows[0].verdict, "damaged");
  EXPECT_EQ(document.runs.rows[2].verdict, "complete");
  EXPECT_EQ(document.runs.rows[3].verdict, "damaged");
  EXPECT_EQ(document.runs.rows[4].verdict, "missing");
  EXPECT_NE(to_html(document, folder).find("config.json is not valid JSON (byte 2)."), std::string::npos);
}

TEST_F(ComposeTest, SoftmaxRegressionOnMnistIsFigureTwoWithARateForEachRun) {
  for (const std::string rate : {"0.1", "29"}) {
    write_network_record("runs/" + rate);
    write("runs/" + rate + "/config.json",
          R"({"options": {"data": "mnist", "network": "softmax", "optimizer": "sgd", "policy": "baseline",
                          "protocol": "coded", "epochs": 2, "rate": )" +
              rate + "}}");
  }
  const Chart accuracy = compose(experiment::collect({folder + "/runs"})).charts.at(0).charts.at(0);
  EXPECT_EQ(accuracy.title, "Accuracy (figure 2)");
  EXPECT_EQ(accuracy.series.at(0).label, "SGD baseline, rate 0.1: validation");
  EXPECT_EQ(accuracy.series.at(2).label, "SGD baseline, rate 29: validation");
}

TEST_F(ComposeTest, TheSameRateHasTheSameColourOnEveryChart) {
  const auto write_run = [&](const std::string& name, const std::string& data, const std::string& rate) {
    write_network_record("runs/" + name);
    write("runs/" + name + "/config.json",
          R"({"options": {"network": "softmax", "optimizer": "sgd", "policy": "baseline", "epochs": 2, "data": ")" +
              data + R"(", "rate": )" + rate + "}}");
  };
  write_run("a", "mnist", "0.1");
  write_run("b", "mnist", "29");
  write_run("c", "cifar10", "29");
  std::map<std::string, std::set<int>> colors;
  const Document document = compose(experiment::collect({folder + "/runs"}));
  for (const ChartGroup& group : document.charts) {
    for (const Series& series : group.charts.at(0).series) {
      colors[series.label.find("29") != std::string::npos || group.charts[0].series.size() == 2 ? "29" : "0.1"].insert(
          series.color);
    }
  }
  EXPECT_EQ(colors["29"].size(), 1u);
  EXPECT_EQ(colors["0.1"].size(), 1u);
  EXPECT_NE(colors["29"], colors["0.1"]);
}

TEST_F(ComposeTest, RunsOfTheSameKindGetLabelsThatDiffer) {
  write_network_record("runs/first");
  write_network_record("runs/second");
  const Document document = compose(experiment::collect({folder + "/runs"}));
  const Chart& rate = document.charts.at(0).charts.at(2);
  std::vector<std::string> labels;
  for (const Series& series : rate.series) labels.push_back(series.label);
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(std::adjacent_find(labels.begin(), labels.end()), labels.end());
}

// "later" is in no list of ours: its name in metrics.jsonl is enough.
TEST_F(ComposeTest, ANewFigureOfARecordIsDrawnByItsName) {
  write_network_record("runs/ours");
  const Document document = compose(experiment::collect({folder + "/runs"}));
  const Chart& chart = document.charts.at(0).charts.back();
  EXPECT_EQ(chart.title, "later");
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].x, std::vector<double>{2});
  EXPECT_EQ(chart.series[0].y, std::vector<double>{5});
  const auto json = nlohmann::json::parse(to_json(document));
  const auto found = std::find_if(json["charts"].begin(), json["charts"].end(),
                                  [](const auto& each) { return each["title"] == "later"; });
  ASSERT_NE(found, json["charts"].end());
  EXPECT_EQ((*found)["series"][0]["y"][0], 5);
}

// A row is one file: what it says is enough to be listed, judged and shown.
TEST_F(ComposeTest, ANewRecipeIsListedJudgedAndOnThePage) {
  const std::vector<experiment::Recipe> recipes = {
      experiment::parse_recipe(R"({"table": "table1", "row": 9, "name": "made-up", "title": "Made up",
        "data": {"set": "iris"}, "model": {"family": "softmax", "scaling": "none", "intercept": false},
        "training": {"start": "zero", "threshold": 0.5}, "baseline_rate": 0.1, "protocols": ["coded"],
        "paper": {"rate": 2, "baseline": 100, "computed": 10, "rows": 150}, "caveats": ["Invented."]})",
                               "made-up.json"),
      experiment::parse_recipe(R"({"table": "table3", "row": 38, "name": "invented", "title": "Invented",
        "training": {"data": "cifar10", "network": "resnet20-v1", "optimizer": "adamo", "policy": "adaptive",
                     "epochs": 2, "batch": 64, "decay": 0.001},
        "protocols": ["coded"], "paper": {"accuracy": 50.5}, "caveats": []})",
                               "invented.json")};
  write_network_record("runs/ours");
  write("runs/ours/config.json", R"({"kind": "network training",
      "options": {"data": "cifar10", "network": "resnet20-v1", "optimizer": "adamo", "policy": "adaptive", "batch": 64,
                  "first_rate": "none", "protocol": "coded", "epochs": 2, "decay": 0.001, "seed": 7}})");
  write("runs/rows.json", R"({"table": "table1", "seeds": 1, "max_iterations": 500000, "rows": [{"name": "made-up",
    "seeds_done": 1, "rows": 150, "zero_loss": 1.1, "runs": [
    {"rate_name": "baseline", "seed": 1, "rate": 0.1, "iterations": 101, "complete": true, "loss": 0.49,
     "stop": "the loss fell below the threshold"},
    {"rate_name": "coded", "seed": 1, "rate": 2.01, "iterations": 10, "complete": true, "loss": 0.49,
     "stop": "the loss fell below the threshold"}]}]})");
  const experiment::Collection found = experiment::collect({folder + "/runs"});
  const std::string list = experiment::list_text(experiment::rows_of(recipes, found));
  EXPECT_NE(list.find("made-up"), std::string::npos) << list;
  EXPECT_NE(list.find("invented  2 epochs"), std::string::npos) << list;
  const Document document = compose(found, {.title = "", .whole_paper = false, .recipes = recipes});
  EXPECT_EQ(row(table(document, "table1"), "table1/made-up").verdict, "reproduced");
  EXPECT_EQ(row(table(document, "table3"), "table3/invented").verdict, "reproduced");  // 50 % within 1 of 50.5
  EXPECT_NE(to_html(document, folder).find("Made up"), std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::report
