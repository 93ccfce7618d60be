#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "app/commands.hpp"
#include "app/output_file.hpp"
#include "app/show.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::app {
namespace {

struct PredictState {
  ModelAndRows files;
  std::string output;
  bool probabilities = false;
  bool json = false;
};

constexpr Index kRowsTogether = 1 << 16;

std::string csv_header(const linear::TableModel& model, bool probabilities) {
  std::string text = "prediction";
  if (probabilities) {
    for (const std::string& label : model.labels) text += "," + csv_field("p(" + label + ")");
  }
  return text + '\n';
}

std::string as_csv(const linear::TableModel& model, const DenseMatrix<double>& scores, bool probabilities) {
  std::string text;
  const bool classes = !model.labels.empty();
  const auto out = std::back_inserter(text);
  for (Index i = 0; i < scores.rows(); ++i) {
    if (!classes) {
      fmt::format_to(out, "{}\n", scores(i, 0));
      continue;
    }
    text += csv_field(model.labels[static_cast<std::size_t>(linear::predicted_class(model.family, scores, i))]);
    if (probabilities) fmt::format_to(out, ",{}", fmt::join(linear::probabilities(model.family, scores, i), ","));
    text += '\n';
  }
  return text;
}

std::string as_json(const linear::TableModel& model, const DenseMatrix<double>& scores, bool probabilities) {
  nlohmann::ordered_json object = {{"target", model.target_name}, {"predictions", nlohmann::ordered_json::array()}};
  const bool classes = !model.labels.empty();
  if (classes) object["labels"] = model.labels;
  for (Index i = 0; i < scores.rows(); ++i) {
    if (classes) {
      const auto guess = static_cast<std::size_t>(linear::predicted_class(model.family, scores, i));
      object["predictions"].push_back(model.labels[guess]);
      if (probabilities) object["probabilities"].push_back(linear::probabilities(model.family, scores, i));
    } else {
      object["predictions"].push_back(scores(i, 0));
    }
  }
  return object.dump(2) + "\n";
}

void predict(const PredictState& state, bool writes, const ScoreNetwork& score_network) {
  const ModelAndRows& files = state.files;
  if (writes) check_output(state.output, {files.model, files.data});
  const AnyModel any(files.model, score_network);
  const linear::TableModel& model = any.table();
  if (state.probabilities && model.labels.empty()) {
    throw Error(Fault::usage, fmt::format("--probabilities: {} predicts numbers, which have none", files.model));
  }
  const data::Table table =
      run::load_rows(model, files.data, files.read, run::Target::ignored, files.columns, files.unknown);
  show_remarks(table);
  std::optional<AtomicFile> file;
  if (!state.output.empty() && state.output != "-") file.emplace(state.output);
  const auto write = [&](std::string_view text) {
    if (file) return file->write(text);
    fmt::print("{}", text);
  };
  if (state.json) {
    write(as_json(model, any.scores(table, files.read.threads), state.probabilities));
  } else {
    std::string header = csv_header(model, state.probabilities);  // written with the first rows, when there are scores
    any.visit_scores(table, files.read.threads, [&](const DenseMatrix<double>& scores) {
      write(std::exchange(header, {}) + as_csv(model, scores, state.probabilities));
    });
    write(header);
  }
  if (file) file->commit();
}

}  // namespace

AnyModel::AnyModel(std::string path, ScoreNetwork score_network)
    : path_(std::move(path)), score_network_(std::move(score_network)) {
  if (score_network_ && run::is_run_folder(path_)) {
    network_ = run::load_network_table(path_);
  } else {
    model_ = linear::load_model(path_);
  }
}

const linear::TableModel& AnyModel::table() const {
  if (network_) return *network_;
  return *model_;
}

DenseMatrix<double> AnyModel::scores(const data::Table& rows, unsigned threads) const {
  if (network_) return score_network_(path_, *network_, rows, threads);
  ThreadPool pool(threads);
  return linear::scores(*model_, rows.features, pool);
}

void AnyModel::visit_scores(const data::Table& rows, unsigned threads,
                            const std::function<void(const DenseMatrix<double>&)>& visit) const {
  if (network_) return visit(scores(rows, threads));
  ThreadPool pool(threads);
  std::vector<Index> numbers;
  for (Index first = 0; first < rows.rows(); first += kRowsTogether) {
    numbers.resize(static_cast<std::size_t>(std::min(kRowsTogether, rows.rows() - first)));
    std::iota(numbers.begin(), numbers.end(), first);
    visit(linear::scores(*model_, data::take_rows(data::view_of(rows.features), numbers), pool));
  }
}

run::Options options_of(ModelAndRows& files, const std::string& target_help) {
  return run::grouped(
      {{"",
        {{"model", &files.model,
          "model file written by `lipschitzlr fit`, or the folder of a run of `lipschitzlr train` on a table",
          run::Flags{"MODEL"}, run::kRequired},
         {"data", &files.data, run::kDataHelp, run::Flags{"DATA"}, run::kRequired}}},
       {"Reading", run::options_of(files.read, target_help) +
                       run::Options{run::memory_option(files.read),
                                    {"columns", run::choice(files.columns, {"by name", "by position"}),
                                     "use the columns in their order, whatever their names; default: by name",
                                     run::Flags{"--by-position"}, run::kSwitch},
                                    {"unknown", run::choice(files.unknown, {"remark", "error"}),
                                     "refuse rows without a column of the model, or with a level it does not know; "
                                     "default: fill them in as gaps, and say so",
                                     run::Flags{"--strict"}, run::kSwitch}}}});
}

Command predict_command(const ScoreNetwork& score_network) {
  const auto state = std::make_shared<PredictState>();
  return {.name = "predict",
          .summary = "Predict rows with a trained model",
          .options = options_of(state->files, "default: the model's, by name; it may be missing and is not used") +
                     run::Options{{"output", &state->output, "file to write instead of standard output",
                                   run::Placeholder{"FILE"}, run::Flags{"-o,--output"}},
                                  {"probabilities", &state->probabilities, "also the probability of each class"},
                                  run::threads_option(state->files.read.threads),
                                  run::json_option(state->json)},
          .run = [state, score_network](
                     const Call& call) { return predict(*state, call.given.contains("output"), score_network), 0; },
          .details =
              "Columns are matched by name; by their order where neither side has names, and with --by-position.\n"
              "A target column may be there and is ignored.",
          .examples =
              "predict model.json new.csv > predictions.csv\n"
              "predict runs/prices.csv-mlp-64-64-auto-adaptive new.csv\n"
              "predict model.json - --probabilities < new.csv"};
}

}  // namespace lipschitzlr::app
