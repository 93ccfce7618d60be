#include "lipschitzlr/run/network_evaluation.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/image/image_sources.hpp"
#include "lipschitzlr/run/trainer_setup.hpp"
#include "run/network_figures.hpp"
#include "run/network_session.hpp"

namespace lipschitzlr::run {

using nlohmann::ordered_json;

void add_figures(ordered_json& object, const linear::Evaluation& figures) {
  const ordered_json all = parse_ordered_json(linear::to_json(figures), "");
  for (const auto& [name, value] : all.items()) {
    if (name != "rows" && !object.contains(name)) object[name] = value;
  }
}

linear::Evaluation evaluate_scores(const DenseMatrix<double>& scores, const data::ImageSet& images,
                                   const std::vector<std::string>& classes) {
  const Vector<double> targets = Vector<double>::NullaryExpr(
      images.count(), [&](Index i) { return static_cast<double>(images.labels[static_cast<std::size_t>(i)]); });
  return linear::evaluate(linear::Family::softmax, scores, targets, classes);
}

NetworkEvaluation evaluate_network(const TrainOptions& options, const std::string& weights) {
  const data::ImageSet train = data::load_images(options.data, data::Part::train);
  const data::ImageSet test = data::load_images(options.data, data::Part::test);
  // A trainer that never trains: it knows how to make the network and what to feed it.
  nn::Trainer trainer(trainer_options(completed(options, train), train), train, data::all_images(train));
  const std::vector<std::string> remarks = trainer.load_weights(weights);
  const bool tested = test.count() > 0;
  const data::ImageSet& judged = tested ? test : train;
  DenseMatrix<double> scores;
  const nn::Evaluation result = trainer.evaluate(judged, data::all_images(judged), &scores);
  NetworkEvaluation evaluation{.images = result.count,
                               .of_test_images = tested,
                               .remarks = remarks,
                               .figures = evaluate_scores(scores, judged, train.classes),
                               .json = {}};
  ordered_json json = {{"accuracy", result.accuracy},
                       {"loss", result.loss},
                       {"images", result.count},
                       {"parameters", trainer.parameter_count()},
                       {"remarks", remarks}};
  add_figures(json, evaluation.figures);
  evaluation.json = json.dump(2);
  return evaluation;
}

DenseMatrix<double> network_scores(const std::string& folder, const NetworkTable& table, const data::Table& rows,
                                   unsigned threads) {
  const std::string config = folder + "/config.json", weights = folder + "/best.safetensors";
  TrainOptions options;
  try {
    options = train_options_from(parse_ordered_json(read_file(config), config).at("options"), config);
  } catch (const nlohmann::json::exception&) {
    throw Error(Fault::data, fmt::format("{}: is not the record of a network training", config));
  }
  if (!std::filesystem::exists(weights)) {
    throw Error(Fault::data,
                fmt::format("{}: the training has not ended its first epoch; there are no weights yet", folder));
  }
  if (rows.rows() == 0) return DenseMatrix<double>(0, table.family == linear::Family::softmax ? table.classes() : 1);
  options.threads = threads;
  const DataShape shape(table.family, rows.rows());
  const data::TableExamples examples = examples_of(table, rows);
  nn::Trainer trainer(trainer_options(completed(options, shape), shape), examples, data::all_of(examples));
  trainer.load_weights(weights);
  DenseMatrix<double> outputs;
  trainer.evaluate(examples, data::all_of(examples), &outputs);
  return in_units(table, std::move(outputs));
}

}  // namespace lipschitzlr::run
