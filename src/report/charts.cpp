#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "lipschitzlr/experiment/curve.hpp"
#include "report/chart_series.hpp"
#include "report/sections.hpp"
#include "report/titles.hpp"

namespace lipschitzlr::report {
namespace {

using run::Record;
using run::RecordKind;
using Records = std::vector<const Record*>;

// ---- What is drawn of a training: a chart for each of these, and one for every other column of a record.

struct Line {
  std::vector<std::string> columns;  // added up
  std::string label;
  Role role = Role::validation;
};

struct Figure {
  std::string title, y_label, about;
  std::vector<Line> lines;
  double (*value)(double) = [](double number) { return number; };
  bool (*wanted)(const Records&) = [](const Records&) { return true; };
};

double percent(double share) { return 100 * share; }
// None at all has no place on a log scale.
double error(double share) { return share < 1 ? 100 * (1 - share) : kNoNumber; }
// What was not computed in an epoch is left at zero and is no measurement.
double nonzero(double number) { return number == 0 ? kNoNumber : number; }

// Near the top accuracies lie on one line; what they lack does not.
bool near_the_top(const Records& records) {
  return std::any_of(records.begin(), records.end(),
                     [](const Record* record) { return experiment::best_accuracy(*record).share >= 0.95; });
}

bool rate_varies(const Records& records) {
  return std::any_of(records.begin(), records.end(), [](const Record* record) {
    const std::vector<double>& rates = record->column("rate");
    return std::any_of(rates.begin(), rates.end(), [&](double rate) {
      return std::isfinite(nonzero(rate)) && std::isfinite(nonzero(rates.back())) && rate != rates.back();
    });
  });
}

constexpr char kMeasuredRate[] = "P", kRollbacks[] = "rollbacks";

template <const char* name>
bool has_column(const Records& records) {
  return std::any_of(records.begin(), records.end(),
                     [](const Record* record) { return record->columns.contains(name); });
}

const std::vector<Figure>& figures(RecordKind kind) {
  static const std::vector<Figure> network = {
      {"Accuracy",
       "accuracy, percent",
       "",
       {{{"val_accuracy"}, "validation"}, {{"accuracy"}, "training", Role::training}},
       percent},
      {"R^2",
       "R^2",
       "1 - squared error / that of the mean.",
       {{{"val_r2"}, "validation"}, {{"r2"}, "training", Role::training}}},
      {"Root mean square error",
       "in the target's units",
       "",
       {{{"val_rmse"}, "validation"}, {{"rmse"}, "training", Role::training}}},
      {"Error", "validation error, percent", "", {{{"val_accuracy"}, ""}}, error, near_the_top},
      {"Loss",
       "loss",
       "Training loss with the penalty, as Keras reports it; ours of validation without, the authors' with.",
       {{{"loss", "penalty"}, "training", Role::training}, {{"val_loss"}, "validation"}}},
      {"Learning rate", "computed rate, before decay", "", {{{"rate"}, ""}}, nonzero},
      {"Estimates of the automatic rate",
       "rate",
       "The loss over its Lipschitz constant, measured over all weights and of the head in closed form.",
       {{{"P"}, "measured"}, {{"Hb"}, "closed form", Role::training}},
       nonzero,
       has_column<kMeasuredRate>},
      {"Rollbacks", "so far", "", {{{"rollbacks"}, ""}}, [](double number) { return number; }, has_column<kRollbacks>},
      {"K_z and max ||w||",
       "norm",
       "The two measurements that the rate is computed from.",
       {{{"K_z"}, "K_z"}, {{"max_w"}, "max ||w||", Role::training}},
       nonzero},
      {"Time per epoch",
       "seconds",
       "Training, measuring K_z and validating together.",
       {{{"train_seconds", "measure_seconds", "validate_seconds"}, ""}}}};
  static const std::vector<Figure> linear = {
      {"Loss over iterations", "loss on the rows trained on", "", {{{"loss"}, "", Role::other}}},
      {"Loss of the rows held out",
       "loss",
       "What early stopping measures; the weights of the lowest are kept.",
       {{{"held_out_loss"}, "", Role::other}}},
      {"Norm of the gradient", "||gradient||", "", {{{"gradient_norm"}, "", Role::other}}},
      {"Learning rate", "rate", "", {{{"rate"}, "", Role::other}}, nonzero, rate_varies}};
  return kind == RecordKind::network ? network : linear;
}

// Columns that are in the file and not on the page.
const std::set<std::string> kNotDrawn = {"epoch",       "step",    "last_rate", "G",     "S", "data_seconds",
                                         "weight_norm", "seconds", "F",         "L_inf", "H", "averaged"};

std::vector<Figure> all_figures(const Records& records) {
  std::vector<Figure> all = figures(records[0]->kind);
  std::set<std::string> known = kNotDrawn;
  for (const Figure& figure : all) {
    for (const Line& line : figure.lines) known.insert(line.columns.begin(), line.columns.end());
  }
  for (const Record* record : records) {
    for (const auto& [name, column] : record->columns) {
      if (known.insert(name).second) all.push_back({name, name, "", {{{name}, ""}}});
    }
  }
  return all;
}

std::vector<double> values_of(const Record& record, const Line& line, double (*value)(double)) {
  std::vector<double> values = record.column(line.columns[0]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t part = 1; part < line.columns.size(); ++part) {
      const std::vector<double>& column = record.column(line.columns[part]);
      if (!column.empty() && std::isfinite(column[i])) values[i] += column[i];
    }
    values[i] = value(values[i]);
  }
  return values;
}

// ---- The charts of all trainings of one model on one data set.

// The same method and rate have the same colour in every chart, and two runs of one chart two as long as there are
// enough.
class Colors {
 public:
  std::vector<int> of(const Records& records) {
    std::vector<int> colors;
    std::set<int> taken;
    for (const Record* record : records) {
      const std::string method =
          fmt::format("{} {} {}", record->optimizer(), record->option("policy"), record->option("rate"));
      int color = places_.try_emplace(method, static_cast<int>(places_.size())).first->second % kColors;
      for (int tries = 0; tries < kColors && taken.contains(color); ++tries) color = (color + 1) % kColors;
      taken.insert(color);
      colors.push_back(color);
    }
    return colors;
  }

 private:
  static constexpr int kColors = 8;  // of page.css

  std::map<std::string, int> places_;  // in the order in which they first come
};

class Study {
 public:
  Study(const Records& records, Colors& colors)
      : records_(records),
        labels_(labels_of(records)),
        colors_(colors.of(records)),
        network_(records[0]->kind == RecordKind::network) {
    for (const Record* record : records_) {
      const experiment::Recipe* const recipe = experiment::recipe_of(*record);
      const Record* curve = recipe == nullptr ? nullptr : experiment::authors_curve(recipe->network->curve);
      // Two runs of the same row have one curve of the authors between them.
      if (std::find(curves_.begin(), curves_.end(), curve) != curves_.end()) curve = nullptr;
      curves_.push_back(curve);
    }
  }

  ChartGroup group() const {
    const std::string data = records_[0]->data(), model = records_[0]->model();
    ChartGroup group;
    group.title = fmt::format("{}: {}", data_title(data), network_title(model));
    group.id = identifier((network_ ? "train " : "fit ") + group.title);
    if (network_) {
      group.about =
          "Thick: validation; thin: training; dashed: the authors' own curve, where the paper has this row. Where "
          "there "
          "are many, training is switched off at first.";
    }
    for (const Figure& figure : all_figures(records_)) {
      if (figure.wanted(records_)) group.charts.push_back(chart(figure));
    }
    if (!network_) group.charts.push_back(penalty_chart());
    std::erase_if(group.charts, [](const Chart& chart) { return chart.series.empty(); });
    if (!network_) {
      std::vector<Chart> answers = answer_charts(records_, labels_);
      std::move(answers.begin(), answers.end(), std::back_inserter(group.charts));
    }
    if (group.charts.empty()) return group;
    if (data == "california" && !network_) {
      group.about = "The paper's figure 1 shows the loss of this data set over the iterations.";
      group.charts[0].title += " (figure 1)";
    }
    if (data == "mnist" && model == "softmax" && network_) {
      group.charts[0].title += " (figure 2)";
      group.charts[0].about =
          "The paper's figure 2 has the rate 0.1 and 1/L over all rows, on standardised pixels; pixels are divided by "
          "255 here, where 1/L over all rows is 29.04.";
    }
    for (Chart& chart : group.charts) chart.id = identifier(group.id + " " + chart.title);
    return group;
  }

 private:
  Chart chart(const Figure& figure) const {
    Chart chart;
    chart.title = figure.title;
    chart.about = figure.about;
    chart.y.label = figure.y_label;
    chart.x.label = network_ ? "epoch" : "measurements of the loss, one per epoch";
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const Record& record = *records_[i];
      if (network_) chart.x.end = std::max(std::isfinite(chart.x.end) ? chart.x.end : 0, record.column("epoch").back());
      if (curves_[i] != nullptr) {
        const std::string name = optimizer_title(record.optimizer()) + " " + record.option("policy");
        add(chart, figure, *curves_[i], "authors, " + name, i, true);
      }
      add(chart, figure, record, labels_[i], i, false);
    }
    chart.x.logarithmic = !network_ && spans_decades(chart.series, &Series::x);
    chart.y.logarithmic = figure.value == error || (figure.value != percent && spans_decades(chart.series, &Series::y));
    return chart;
  }

  // What cross-validation has seen.
  Chart penalty_chart() const {
    Chart chart;
    chart.title = "Choice of the penalty";
    chart.about = "Cross-validation; thin: one standard error above. The lowest point was taken.";
    chart.x.label = "lambda, the strength of the penalty";
    chart.y.label = "loss of rows held out";
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const run::PenaltyCurve& curve = records_[i]->penalty;
      if (curve.lambda.empty()) continue;
      std::vector<double> above = curve.loss;
      for (std::size_t j = 0; j < above.size(); ++j) above[j] += curve.standard_error[j];
      const int color = static_cast<int>(i);
      chart.series.push_back(make_series(labels_[i], Role::validation, color, curve.lambda, curve.loss));
      chart.series.push_back(
          make_series(labels_[i] + ": one standard error above", Role::training, color, curve.lambda, above));
    }
    chart.x.logarithmic = spans_decades(chart.series, &Series::x);
    chart.y.logarithmic = spans_decades(chart.series, &Series::y);
    return chart;
  }

  void add(Chart& chart, const Figure& figure, const Record& record, const std::string& label, std::size_t i,
           bool authors) const {
    std::vector<double> epochs = record.column("epoch");
    // The first measurement of a fit comes before the first update: it is number 1, as the paper counts.
    if (!network_) std::transform(epochs.begin(), epochs.end(), epochs.begin(), [](double epoch) { return epoch + 1; });
    for (const Line& line : figure.lines) {
      const Role role = !authors ? line.role : line.role == Role::training ? Role::authors_training : Role::authors;
      Series series = make_series(line.label.empty() ? label : label + ": " + line.label, role, colors_[i], epochs,
                                  values_of(record, line, figure.value));
      if (!series.x.empty()) chart.series.push_back(std::move(series));
    }
  }

  Records records_;
  std::vector<std::string> labels_;
  std::vector<int> colors_;
  bool network_;
  Records curves_;  // of the authors, to be drawn with the record; nullptr: none
};

// ---- The nine panels of the paper's figure on learning rates.

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

Series rates_from(const Record& record, const std::string& label, Role role, int color, std::size_t first_epoch) {
  const auto rest = [&](const std::vector<double>& values) {
    const std::size_t skipped = std::min(first_epoch - 1, values.size());
    return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(skipped), values.end());
  };
  return make_series(label, role, color, rest(record.column("epoch")),
                     rest(values_of(record, {{"rate"}, ""}, nonzero)));
}

Chart panel_chart(const Panel& panel, const Records& records) {
  Chart chart;
  chart.small = true;
  chart.id = identifier(fmt::format("figure 3 {}", panel.name));
  chart.title = fmt::format("({}) {}", panel.name, panel.title);
  chart.x.label = "epoch";
  chart.y.label = "learning rate";
  const experiment::Recipe* const recipe = experiment::find_recipe(panel.recipe);
  if (recipe == nullptr) return chart;
  const Record* const curve = experiment::authors_curve(recipe->network->curve);
  if (curve != nullptr && !curve->column("rate").empty()) {
    chart.series.push_back(rates_from(*curve, "authors", Role::authors, 0, panel.first_epoch));
  }
  Records same = records;
  std::erase_if(same, [&](const Record* record) { return experiment::recipe_of(*record) != recipe; });
  for (const Record* record : same) {
    const std::string name = same.size() > 1 ? fmt::format(" ({})", record->name()) : "";
    chart.x.end = std::max(std::isfinite(chart.x.end) ? chart.x.end : 0, record->column("epoch").back());
    chart.series.push_back(rates_from(*record, "ours, " + record->option("protocol") + name, Role::validation,
                                      static_cast<int>(chart.series.size()), panel.first_epoch));
  }
  chart.y.logarithmic = spans_decades(chart.series, &Series::y);
  if (chart.series.empty()) chart.about = "The authors kept no rates of this row, and it was not run here.";
  return chart;
}

void add_studies(const Records& records, Colors& colors, Document& document) {
  std::vector<Records> studies;
  for (const Record* record : records) {
    const auto same = std::find_if(studies.begin(), studies.end(), [&](const Records& study) {
      return study[0]->data() == record->data() && study[0]->model() == record->model();
    });
    (same == studies.end() ? studies.emplace_back() : *same).push_back(record);
  }
  for (const Records& study : studies) document.charts.push_back(Study(study, colors).group());
}

}  // namespace

void add_charts(const Collection& collection, bool whole_paper, Document& document) {
  Records networks, linear;
  for (const Record& record : collection.records) {
    if (record.length() == 0 || record.kind == RecordKind::unknown) continue;
    (record.kind == RecordKind::network ? networks : linear).push_back(&record);
  }
  Colors colors;
  add_studies(networks, colors, document);
  const bool of_paper = std::any_of(networks.begin(), networks.end(),
                                    [](const Record* record) { return experiment::recipe_of(*record) != nullptr; });
  if (of_paper || whole_paper) {
    ChartGroup& figure = document.charts.emplace_back();
    figure.id = "figure-3";
    figure.title = "Figure 3: the learning rate over epochs";
    figure.about =
        "The nine panels of the paper's figure. Dashed: the authors; " + experiment::authors_curves_source() + ".";
    for (const Panel& panel : kPanels) figure.charts.push_back(panel_chart(panel, networks));
  }
  add_studies(linear, colors, document);
}

}  // namespace lipschitzlr::report
