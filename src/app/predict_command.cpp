#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <nlohmann/json.hpp>

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
  unsigned threads = 0;
  bool probabilities = false;
  bool json = false;
};

std::string as_csv(const linear::Model& model, const DenseMatrix<double>& scores, bool probabilities) {
  std::string text = "prediction";
  const bool classes = !model.labels.empty();
  if (probabilities) {
    for (const std::string& label : model.labels) text += "," + csv_field("p(" + label + ")");
  }
  text += '\n';
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

std::string as_json(const linear::Model& model, const DenseMatrix<double>& scores, bool probabilities) {
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

void predict(const PredictState& state, bool writes) {
  const ModelAndRows& files = state.files;
  if (writes) check_output(state.output, {files.model, files.data});
  const linear::Model model = linear::load_model(files.model);
  if (state.probabilities && model.labels.empty()) {
    throw Error(Fault::usage, fmt::format("--probabilities: {} predicts numbers, which have none", files.model));
  }
  const data::Table table =
      run::load_rows(model, files.data, files.read, run::Target::ignored, files.columns, files.unknown);
  show_remarks(table);
  ThreadPool pool(state.threads);
  const DenseMatrix<double> scores = linear::scores(model, table.features, pool);
  const std::string text =
      state.json ? as_json(model, scores, state.probabilities) : as_csv(model, scores, state.probabilities);
  if (state.output.empty() || state.output == "-") {
    fmt::print("{}", text);
  } else {
    write_file_atomically(state.output, text);
  }
}

}  // namespace

run::Options options_of(ModelAndRows& files, const std::string& target_help) {
  return run::grouped(
      {{"",
        {{"model", &files.model, "model file written by `lipschitzlr fit`", run::Flags{"MODEL"}, run::kRequired},
         {"data", &files.data, run::kDataHelp, run::Flags{"DATA"}, run::kRequired}}},
       {"Reading", run::options_of(files.read, target_help) +
                       run::Options{{"columns", run::choice(files.columns, {"by name", "by position"}),
                                     "use the columns in their order, whatever their names; default: by name",
                                     run::Flags{"--by-position"}, run::kSwitch},
                                    {"unknown", run::choice(files.unknown, {"remark", "error"}),
                                     "refuse rows without a column of the model, or with a level it does not know; "
                                     "default: fill them in as gaps, and say so",
                                     run::Flags{"--strict"}, run::kSwitch}}}});
}

Command predict_command() {
  const auto state = std::make_shared<PredictState>();
  return {.name = "predict",
          .summary = "Predict rows with a trained model",
          .options = options_of(state->files, "default: the model's, by name; it may be missing and is not used") +
                     run::Options{{"output", &state->output, "file to write instead of standard output",
                                   run::Placeholder{"FILE"}, run::Flags{"-o,--output"}},
                                  {"probabilities", &state->probabilities, "also the probability of each class"},
                                  run::threads_option(state->threads),
                                  run::json_option(state->json)},
          .run = [state](const Call& call) { return predict(*state, call.given.contains("output")), 0; },
          .details =
              "Columns are matched by name; by their order where neither side has names, and with --by-position.\n"
              "A target column may be there and is ignored.",
          .examples =
              "predict model.json new.csv > predictions.csv\n"
              "predict model.json - --probabilities < new.csv"};
}

}  // namespace lipschitzlr::app
