#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/show.hpp"
#include "lipschitzlr/run/apply.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  std::string model, data;
  data::ReadOptions read;
  unsigned threads = 0;
  bool json = false;
};

void evaluate(const Options& options) {
  const linear::Model model = linear::load_model(options.model);
  const data::Table table = run::load_rows(model, options.data, options.read, run::Target::required);
  ThreadPool pool(options.threads);
  const DenseMatrix<double> scores = linear::scores(model, table.features, pool);
  const linear::Metrics metrics = linear::measure(model.family, scores, table.target, model.classes());
  if (options.json) {
    nlohmann::json object = nlohmann::json::parse(run::to_json(metrics, model.family));
    if (!model.labels.empty()) object.update({{"labels", model.labels}, {"confusion", metrics.confusion}});
    fmt::print("{}\n", object.dump(2));
    return;
  }
  show_metrics(model.family, metrics, std::nullopt);
  show_confusion(metrics, model.labels);
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("evaluate", "Measure a trained model on rows whose target is known");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "model file written by `lipschitzlr fit`")->required()->type_name("");
  command->add_option("DATA", options->data, kDataHelp)->required()->type_name("");
  add_read_options(*command, options->read, "default: the model's, found by name");
  add_threads_option(*command, options->threads);
  add_json_option(*command, options->json);
  fold_help(*command);
  command->footer(
      "Example:\n"
      "  lipschitzlr evaluate model.json test.csv\n"
      "A network's weights on images (`lipschitzlr evaluate --weights FILE --help` has more):\n"
      "  lipschitzlr evaluate --model resnet20-v1 --data cifar10 --weights best.safetensors");
  command->callback([options] { evaluate(*options); });
}

}  // namespace lipschitzlr::app
