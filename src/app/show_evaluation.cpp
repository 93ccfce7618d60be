#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "app/show.hpp"
#include "base/text.hpp"

namespace lipschitzlr::app {
namespace {

using linear::ClassFigures;
using linear::Evaluation;

constexpr std::size_t kLabelWidth = 14, kMostClasses = 20, kMostConfusions = 10;

std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }
std::string figure_text(double value) { return fmt::format("{:.4f}", value); }
std::string figure_text(const std::optional<double>& value) { return value ? figure_text(*value) : "-"; }
// Rows as they are counted; sums of weights to six digits.
std::string rows_text(double weight) {
  return weight == std::floor(weight) ? fmt::format("{:.0f}", weight) : fmt::format("{:.6g}", weight);
}

std::string cell_of(const std::string& label) { return table_cell(label, kLabelWidth); }

std::string trimmed(std::string text) { return text.erase(text.find_last_not_of(' ') + 1); }

void show_line(const std::string& name, const std::string& value, const std::string& remark = "") {
  fmt::print("{}\n", trimmed(fmt::format("  {:<22} {:>12}   {}", name, value, remark)));
}

void show_class_line(const std::string& name, const std::string& rows, double precision, double recall, double f1,
                     const std::string& auc) {
  fmt::print("{}\n", trimmed(fmt::format("  {} {:>8} {:>10} {:>10} {:>10} {:>8}", name, rows, share_text(precision),
                                         share_text(recall), share_text(f1), auc)));
}

void show_per_class(const Evaluation& result) {
  std::vector<std::size_t> order(result.labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t left_out = order.size() > kMostClasses ? order.size() - kMostClasses : 0;
  if (left_out > 0) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return result.classes[a].f1 < result.classes[b].f1; });
    order.resize(kMostClasses);
  }
  fmt::print("\n  {} {:>8} {:>10} {:>10} {:>10} {:>8}\n", cell_of("class"), "rows", "precision", "recall", "F1", "AUC");
  for (const std::size_t c : order) {
    const ClassFigures& one = result.classes[c];
    show_class_line(cell_of(result.labels[c]), rows_text(one.weight), one.precision, one.recall, one.f1,
                    figure_text(one.auc));
  }
  const auto& [macro, weighted] = std::tie(result.macro, result.weighted);
  show_class_line(cell_of("mean"), "", macro.precision, macro.recall, macro.f1, "");
  show_class_line(cell_of("mean by rows"), "", weighted.precision, weighted.recall, weighted.f1, "");
  if (left_out > 0) {
    fmt::print("  (the {} classes with the lowest F1; --json has the other {})\n", kMostClasses, left_out);
  }
}

// Of a table that is too wide: what is taken for what most often.
void show_largest_confusions(const Evaluation& result) {
  std::vector<std::tuple<double, std::size_t, std::size_t>> cells;
  for (std::size_t i = 0; i < result.labels.size(); ++i) {
    for (std::size_t j = 0; j < result.labels.size(); ++j) {
      if (i != j && result.confusion[i][j] > 0) cells.emplace_back(-result.confusion[i][j], i, j);
    }
  }
  std::sort(cells.begin(), cells.end());
  const std::size_t shown = std::min(cells.size(), kMostConfusions);
  if (shown == 0) return;
  fmt::print("\n  the {} most frequent mistakes (--json has the table of all classes)\n  {} {} {:>8}\n", shown,
             cell_of("true class"), cell_of("predicted"), "rows");
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [rows, truth, guess] = cells[i];
    fmt::print("  {} {} {:>8}\n", cell_of(result.labels[truth]), cell_of(result.labels[guess]), rows_text(-rows));
  }
}

void show_confusion(const Evaluation& result) {
  const std::size_t count = result.labels.size();
  std::vector<std::string> heads;
  std::vector<std::size_t> widths;
  std::size_t total = kLabelWidth + 2;
  for (std::size_t j = 0; j < count; ++j) {
    heads.push_back(trimmed(cell_of(result.labels[j])));
    widths.push_back(std::max<std::size_t>(heads[j].size(), 5));
    for (std::size_t i = 0; i < count; ++i) widths[j] = std::max(widths[j], rows_text(result.confusion[i][j]).size());
    total += widths[j] + 2;
  }
  if (total > kTextWidth) return show_largest_confusions(result);
  fmt::print("\n  {}", cell_of("true class"));
  fmt::print("  predicted class\n  {}", std::string(kLabelWidth, ' '));
  for (std::size_t j = 0; j < count; ++j) fmt::print("  {:>{}}", heads[j], widths[j]);
  fmt::print("\n");
  for (std::size_t i = 0; i < count; ++i) {
    fmt::print("  {}", cell_of(result.labels[i]));
    for (std::size_t j = 0; j < count; ++j) fmt::print("  {:>{}}", rows_text(result.confusion[i][j]), widths[j]);
    fmt::print("\n");
  }
}

void show_classes(const Evaluation& result, const std::string& rows) {
  const bool binary = result.labels.size() == 2;
  fmt::print("{}, {} classes\n", rows, result.labels.size());
  show_line("accuracy", share_text(result.accuracy),
            fmt::format("{} for the most frequent class", share_text(result.majority_accuracy)));
  show_line("balanced accuracy", share_text(result.balanced_accuracy), "mean recall of the classes");
  const std::string of = binary
                             ? fmt::format("of {} against {}", in_quotes(result.labels[1]), in_quotes(result.labels[0]))
                             : "mean of each class against the others";
  show_line("ROC-AUC", figure_text(result.auc), result.auc ? of : "");
  show_line("average precision", figure_text(result.average_precision), result.auc ? of : "");
  show_line("log loss", fmt::format("{:.6g}", result.loss),
            fmt::format("{:.6g} for the frequencies of the classes", result.constant_loss));
  show_line("Brier score", figure_text(result.brier));
  show_line("calibration error", figure_text(result.calibration_error),
            "mean gap between probability and frequency, 10 bins");
}

void show_numbers(const Evaluation& result, const std::string& rows) {
  fmt::print("{}\n", rows);
  show_line("R^2", fmt::format("{:.6g}", result.r2));
  show_line("RMSE", fmt::format("{:.6g}", result.rmse), "root mean square error");
  show_line("MAE", fmt::format("{:.6g}", result.mae), "mean absolute error");
  show_line("largest error", fmt::format("{:.6g}", result.largest_error));
  show_line("loss", fmt::format("{:.6g}", result.loss), fmt::format("{:.6g} for the mean", result.constant_loss));
}

void show_quantiles(const Evaluation& result) {
  fmt::print("\n  {:<23}", "error, predicted - true");
  for (const double share : linear::kErrorShares) fmt::print(" {:>11}", fmt::format("{:g} %", 100 * share));
  fmt::print("\n  {:<23}", "quantile");
  for (const double value : result.error_quantiles) fmt::print(" {:>11.4g}", value);
  fmt::print("\n");
}

}  // namespace

void show_evaluation(const linear::Evaluation& result, const std::string& rows) {
  if (result.family == linear::Family::linear) {
    show_numbers(result, rows);
  } else {
    show_classes(result, rows);
  }
  show_tables(result);
}

void show_tables(const linear::Evaluation& result) {
  if (result.family == linear::Family::linear) {
    show_quantiles(result);
  } else {
    show_per_class(result);
    show_confusion(result);
  }
  for (const std::string& remark : result.remarks) fmt::print("{}", wrap("note: ", remark));
}

}  // namespace lipschitzlr::app
