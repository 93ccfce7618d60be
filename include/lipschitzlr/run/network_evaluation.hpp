#pragma once
// How good a network's weights are on the test images of a set, or on the training images when it has no others.

#include <string>
#include <vector>

#include "lipschitzlr/data/image/images.hpp"
#include "lipschitzlr/linear/evaluation.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::run {

struct NetworkEvaluation {
  Index images = 0;
  bool of_test_images = true;
  std::vector<std::string> remarks;  // on how the weights fit the network
  linear::Evaluation figures;
  std::string json;  // all of this as a JSON object
};

// From the outputs of a network, images x classes, for all images of a set.
linear::Evaluation evaluate_scores(const DenseMatrix<double>& scores, const data::ImageSet& images,
                                   const std::vector<std::string>& classes);

// Of the options only data, network, architecture and threads count. weights: safetensors or Keras's HDF5.
NetworkEvaluation evaluate_network(const TrainOptions& options, const std::string& weights);

}  // namespace lipschitzlr::run
