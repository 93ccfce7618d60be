#include "lipschitzlr/run/network_evaluation.hpp"

#include "lipschitzlr/data/image/image_sources.hpp"
#include "lipschitzlr/run/trainer_setup.hpp"

namespace lipschitzlr::run {

NetworkEvaluation evaluate_network(const TrainOptions& options, const std::string& weights) {
  const data::ImageSet train = data::load_images(options.data, data::Part::train);
  const data::ImageSet test = data::load_images(options.data, data::Part::test);
  // A trainer that never trains: it knows how to make the network and what to feed it.
  nn::Trainer trainer(trainer_options(completed(options, train), train), train, data::all_images(train));
  const std::vector<std::string> remarks = trainer.load_weights(weights);
  const bool tested = test.count() > 0;
  const nn::Evaluation result = trainer.evaluate(tested ? test : train, data::all_images(tested ? test : train));
  return {result.accuracy, result.loss, result.count, trainer.parameter_count(), tested, remarks};
}

}  // namespace lipschitzlr::run
