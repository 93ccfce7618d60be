#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/show.hpp"
#include "base/text.hpp"

namespace lipschitzlr::app {
namespace {

struct EvaluateState {
  ModelAndRows files;
  bool json = false;
};

void evaluate(const EvaluateState& state, const ScoreNetwork& score_network) {
  const ModelAndRows& files = state.files;
  const AnyModel any(files.model, score_network);
  const linear::TableModel& model = any.table();
  const data::Table table =
      run::load_rows(model, files.data, files.read, run::Target::required, files.columns, files.unknown);
  show_remarks(table);
  const DenseMatrix<double> scores = any.scores(table, files.read.threads);
  const linear::Evaluation result = linear::evaluate(model.family, scores, table.target, model.labels);
  if (state.json) {
    fmt::print("{}\n", nlohmann::ordered_json::parse(linear::to_json(result)).dump(2));
  } else {
    show_evaluation(result, counted(result.rows, "row"));
  }
}

}  // namespace

Command evaluate_command(const ScoreNetwork& score_network) {
  const auto state = std::make_shared<EvaluateState>();
  return {.name = "evaluate",
          .summary = "Measure a trained model on rows whose target is known",
          .options = options_of(state->files, "default: the model's, by name") +
                     run::Options{run::threads_option(state->files.read.threads), run::json_option(state->json)},
          .run = [state, score_network](const Call&) { return evaluate(*state, score_network), 0; },
          .details =
              "A network's weights on images (`lipschitzlr evaluate --weights FILE --help` has more):\n"
              "  lipschitzlr evaluate --model resnet20-v1 --data cifar10 --weights best.safetensors",
          .examples =
              "evaluate model.json test.csv\n"
              "evaluate runs/prices.csv-mlp-64-64-auto-adaptive test.csv"};
}

}  // namespace lipschitzlr::app
