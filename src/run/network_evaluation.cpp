#include "lipschitzlr/run/network_evaluation.hpp"

#include "lipschitzlr/data/image/image_sources.hpp"
#include "lipschitzlr/run/trainer_setup.hpp"

namespace lipschitzlr::run {

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
  return {result.accuracy,
          result.loss,
          result.count,
          trainer.parameter_count(),
          tested,
          remarks,
          evaluate_scores(scores, judged, train.classes)};
}

}  // namespace lipschitzlr::run
