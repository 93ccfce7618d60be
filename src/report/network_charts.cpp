#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/authors.hpp"
#include "report/parts.hpp"
#include "report/series.hpp"
#include "report/words.hpp"

namespace lipschitzlr::report {
namespace {

using Runs = std::vector<NetworkRun>;

std::vector<double> epochs_to(std::size_t count) {
  std::vector<double> epochs(count);
  for (std::size_t i = 0; i < count; ++i) epochs[i] = static_cast<double>(i + 1);
  return epochs;
}

std::vector<double> times(const std::vector<double>& values, double factor) {
  std::vector<double> result = values;
  for (double& value : result) value *= factor;
  return result;
}

std::vector<double> sum(const std::vector<std::vector<double>>& parts) {
  std::vector<double> result;
  for (const std::vector<double>& part : parts) {
    result.resize(std::max(result.size(), part.size()), 0);
    for (std::size_t i = 0; i < part.size(); ++i) result[i] += std::isfinite(part[i]) ? part[i] : 0;
  }
  return result;
}

// What an untrained network leaves at zero, a constant that was not computed in that epoch, is no measurement.
std::vector<double> without_zeros(std::vector<double> values) {
  std::replace(values.begin(), values.end(), 0.0, kNoNumber);
  return values;
}

// In percent; none at all has no place on a log scale.
std::vector<double> errors_of(std::vector<double> accuracies) {
  for (double& share : accuracies) share = share < 1 ? 100 * (1 - share) : kNoNumber;
  return accuracies;
}

constexpr double kNearTheTop = 0.95;

constexpr const char* kSecondFigure =
    "The paper's figure 2 has the rate 0.1 and 1/L over all rows, on standardised pixels; pixels are divided by 255 "
    "here, "
    "where 1/L over all rows is 29.04.";

class Study {
 public:
  explicit Study(const Runs& runs) : runs_(runs) {
    std::vector<const RunRecord*> records;
    for (const NetworkRun& run : runs_) {
      records.push_back(run.record);
      last_ = std::max(last_, run.record->curve("epoch").back());
    }
    labels_ = labels_of(records);
  }

  ChartGroup group() {
    const RunRecord& first = *runs_.front().record;
    ChartGroup group;
    group.title = fmt::format("{}: {}", data_title(first.data), network_title(first.model));
    group.id = identifier("train " + group.title);
    group.about =
        "Thick: validation; thin: training; dashed: the authors' own curve, where the paper has this row. Where there "
        "are "
        "many, training is switched off at first.";
    const bool second = first.data == "mnist" && first.model == "softmax";
    group.charts = {accuracy(second ? "Accuracy (figure 2)" : "Accuracy"), error(), loss(), rate(), norms(), time()};
    if (second) group.charts.front().about = kSecondFigure;
    std::erase_if(group.charts, [](const Chart& chart) { return chart.series.empty(); });
    for (Chart& chart : group.charts) chart.id = identifier(group.id + " " + chart.title);
    return group;
  }

 private:
  Chart start(const std::string& title, const std::string& y_label) const {
    Chart chart;
    chart.title = title;
    chart.x = {"epoch", false, last_};
    chart.y.label = y_label;
    return chart;
  }

  void add(Chart& chart, std::size_t i, const std::string& what, Role role, const std::vector<double>& values) const {
    const std::string label = what.empty() ? labels_[i] : labels_[i] + ": " + what;
    Series series = make_series(label, role, static_cast<int>(i), runs_[i].record->curve("epoch"), values);
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }

  // Nothing when there is none; two runs of the same row have one curve of the authors between them.
  const experiment::Curve& authors_of(std::size_t i) const {
    static const experiment::Curve none;
    const experiment::Curve* const curve = runs_[i].curve;
    const bool drawn = std::any_of(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const NetworkRun& run) { return run.curve == curve; });
    return curve == nullptr || drawn ? none : *curve;
  }

  void add_authors(Chart& chart, std::size_t i, const std::string& what, const std::vector<double>& values,
                   Role role = Role::authors) const {
    if (values.empty()) return;
    const std::string name = optimizer_title(runs_[i].record->optimizer) + " " + runs_[i].record->policy;
    chart.series.push_back(make_series(fmt::format("authors, {}{}{}", name, what.empty() ? "" : ": ", what), role,
                                       static_cast<int>(i), epochs_to(values.size()), values));
  }

  Chart accuracy(const std::string& title) const {
    Chart chart = start(title, "accuracy, percent");
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      add_authors(chart, i, "validation", times(authors_of(i).val_accuracy, 100));
      add_authors(chart, i, "training", times(authors_of(i).accuracy, 100), Role::authors_training);
      add(chart, i, "validation", Role::validation, times(runs_[i].record->curve("val_accuracy"), 100));
      add(chart, i, "training", Role::training, times(runs_[i].record->curve("accuracy"), 100));
    }
    return chart;
  }

  // Near the top accuracies lie on one line; what they lack does not.
  Chart error() const {
    Chart chart = start("Error", "validation error, percent");
    chart.y.logarithmic = true;
    double best = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::vector<double>& ours = runs_[i].record->curve("val_accuracy");
      add_authors(chart, i, "", errors_of(authors_of(i).val_accuracy));
      add(chart, i, "", Role::validation, errors_of(ours));
      best = std::accumulate(ours.begin(), ours.end(), best, [](double a, double b) { return std::max(a, b); });
    }
    if (best < kNearTheTop) chart.series.clear();
    return chart;
  }

  Chart loss() const {
    Chart chart = start("Loss", "loss");
    chart.about = "Training loss with the penalty, as Keras reports it; ours of validation without, the authors' with.";
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const RunRecord& record = *runs_[i].record;
      add_authors(chart, i, "training", authors_of(i).loss, Role::authors_training);
      add_authors(chart, i, "validation", authors_of(i).val_loss);
      add(chart, i, "training", Role::training, sum({record.curve("loss"), record.curve("penalty")}));
      add(chart, i, "validation", Role::validation, record.curve("val_loss"));
    }
    chart.y.logarithmic = spans_decades(chart.series, &Series::y);
    return chart;
  }

  Chart rate() const {
    Chart chart = start("Learning rate", "computed rate, before decay");
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      add_authors(chart, i, "", without_zeros(authors_of(i).rate));
      add(chart, i, "", Role::validation, without_zeros(runs_[i].record->curve("rate")));
    }
    chart.y.logarithmic = spans_decades(chart.series, &Series::y);
    return chart;
  }

  Chart norms() const {
    Chart chart = start("K_z and max ||w||", "norm");
    chart.about = "The two measurements that the rate is computed from.";
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      add(chart, i, "K_z", Role::validation, without_zeros(runs_[i].record->curve("K_z")));
      add(chart, i, "max ||w||", Role::training, without_zeros(runs_[i].record->curve("max_w")));
    }
    chart.y.logarithmic = spans_decades(chart.series, &Series::y);
    return chart;
  }

  Chart time() const {
    Chart chart = start("Time per epoch", "seconds");
    chart.about = "Training, measuring K_z and validating together.";
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const RunRecord& record = *runs_[i].record;
      add(chart, i, "", Role::validation,
          sum({record.curve("train_seconds"), record.curve("measure_seconds"), record.curve("validate_seconds")}));
    }
    chart.y.logarithmic = spans_decades(chart.series, &Series::y);
    return chart;
  }

  Runs runs_;
  std::vector<std::string> labels_;
  double last_ = 0;
};

// The nine panels of the paper's figure on learning rates.
struct Panel {
  const char* name;
  const char* title;
  const char* recipe;
  std::size_t first_epoch;
};
constexpr Panel kPanels[] = {
    {"a", "CNN on MNIST, SGD", "table3/mnist-cnn-sgd-adaptive", 1},
    {"b", "ResNet20 on CIFAR-10, SGD", "table3/cifar10-resnet20-sgd-adaptive-1e-3", 1},
    {"c", "the same from epoch 2", "table3/cifar10-resnet20-sgd-adaptive-1e-3", 2},
    {"d", "DenseNet on CIFAR-10, SGD", "table3/cifar10-densenet40-sgd-adaptive-1e-4", 1},
    {"e", "the same from epoch 2", "table3/cifar10-densenet40-sgd-adaptive-1e-4", 2},
    {"f", "DenseNet on CIFAR-10, Auto-Adam", "table3/cifar10-densenet40-auto-adam-adaptive-1e-4", 1},
    {"g", "DenseNet on CIFAR-10, AdaMo", "table3/cifar10-densenet40-adamo-adaptive-1e-4", 1},
    {"h", "ResNet164 on CIFAR-100, SGD", "table3/cifar100-resnet164-sgd-adaptive-1e-4", 1},
    {"i", "the same from epoch 3", "table3/cifar100-resnet164-sgd-adaptive-1e-4", 3},
};

std::vector<double> from_epoch(const std::vector<double>& values, std::size_t first) {
  const std::size_t skipped = std::min(first - 1, values.size());
  return {values.begin() + static_cast<std::ptrdiff_t>(skipped), values.end()};
}

Chart panel_chart(const Panel& panel, const Runs& runs) {
  const experiment::NetworkRecipe* recipe = experiment::find_network_recipe(panel.recipe);
  Chart chart;
  chart.small = true;
  chart.id = identifier(fmt::format("figure 3 {}", panel.name));
  chart.title = fmt::format("({}) {}", panel.name, panel.title);
  chart.x.label = "epoch";
  chart.y.label = "learning rate";
  if (recipe == nullptr) return chart;
  const experiment::Curve* curve = experiment::authors_curve(recipe->curve);
  if (curve != nullptr && !curve->rate.empty()) {
    chart.series.push_back(make_series("authors", Role::authors, 0,
                                       from_epoch(epochs_to(curve->rate.size()), panel.first_epoch),
                                       from_epoch(without_zeros(curve->rate), panel.first_epoch)));
  }
  const auto same =
      std::count_if(runs.begin(), runs.end(), [&](const NetworkRun& run) { return run.recipe == recipe; });
  for (const NetworkRun& run : runs) {
    if (run.recipe != recipe) continue;
    const std::string name = same > 1 ? fmt::format(" ({})", run.record->name()) : "";
    chart.x.end = std::max(std::isfinite(chart.x.end) ? chart.x.end : 0, run.record->curve("epoch").back());
    chart.series.push_back(make_series("ours, " + run.record->protocol + name, Role::validation,
                                       static_cast<int>(chart.series.size()),
                                       from_epoch(run.record->curve("epoch"), panel.first_epoch),
                                       from_epoch(without_zeros(run.record->curve("rate")), panel.first_epoch)));
  }
  chart.y.logarithmic = spans_decades(chart.series, &Series::y);
  if (chart.series.empty()) chart.about = "The authors kept no rates of this row, and it was not run here.";
  return chart;
}

}  // namespace

void add_network_charts(const Collection& collection, bool whole_paper, Document& document) {
  const Runs all = network_runs(collection);
  std::vector<Runs> studies;
  for (const NetworkRun& run : all) {
    const auto same = std::find_if(studies.begin(), studies.end(), [&](const Runs& runs) {
      return runs.front().record->data == run.record->data && runs.front().record->model == run.record->model;
    });
    if (same == studies.end()) {
      studies.push_back({run});
    } else {
      same->push_back(run);
    }
  }
  for (const Runs& runs : studies) document.charts.push_back(Study(runs).group());
  const bool of_paper =
      std::any_of(all.begin(), all.end(), [](const NetworkRun& run) { return run.recipe != nullptr; });
  if (!of_paper && !whole_paper) return;
  ChartGroup figure;
  figure.id = "figure-3";
  figure.title = "Figure 3: the learning rate over epochs";
  figure.about =
      "The nine panels of the paper's figure. Dashed: the authors; " + experiment::authors_curves_source() + ".";
  for (const Panel& panel : kPanels) figure.charts.push_back(panel_chart(panel, all));
  document.charts.push_back(std::move(figure));
}

}  // namespace lipschitzlr::report
