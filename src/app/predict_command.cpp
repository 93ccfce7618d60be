#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/run/apply.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  std::string model, data, output;
  data::ReadOptions read;
  unsigned threads = 0;
  bool probabilities = false;
  bool json = false;
};

std::string as_csv(const linear::Model& model, const DenseMatrix<double>& scores, bool probabilities) {
  std::string text = "prediction";
  const bool classes = !model.labels.empty();
  if (probabilities && classes) {
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

void predict(const Options& options) {
  const linear::Model model = linear::load_model(options.model);
  const data::Table table = run::load_rows(model, options.data, options.read, run::Target::ignored);
  ThreadPool pool(options.threads);
  const DenseMatrix<double> scores = linear::scores(model, table.features, pool);
  const std::string text =
      options.json ? as_json(model, scores, options.probabilities) : as_csv(model, scores, options.probabilities);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file_atomically(options.output, text);
  }
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("predict", "Predict rows with a trained model");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "model file written by `lipschitzlr fit`")->required()->type_name("");
  command->add_option("DATA", options->data, kDataHelp)->required()->type_name("");
  add_read_options(*command, options->read, "default: the model's, found by name; it may be missing and is not used");
  command->add_option("-o,--output", options->output, "file to write instead of standard output")->type_name("FILE");
  command->add_flag("--probabilities", options->probabilities, "also the probability of each class");
  add_threads_option(*command, options->threads);
  add_json_option(*command, options->json);
  fold_help(*command);
  command->footer(
      "Columns are found by name when the file has a header; a target column may be there and is ignored.\n"
      "Examples:\n"
      "  lipschitzlr predict model.json new.csv > predictions.csv\n"
      "  cat new.csv | lipschitzlr predict model.json - --probabilities");
  command->callback([options] { predict(*options); });
}

}  // namespace lipschitzlr::app
