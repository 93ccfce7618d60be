#pragma once
// The accuracy of a network's weights on the test images of a set, or on the training images when it has no others.

#include <string>
#include <vector>

#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::run {

struct NetworkEvaluation {
  double accuracy = 0, loss = 0;
  Index images = 0, parameters = 0;
  bool of_test_images = true;
  std::vector<std::string> remarks;  // on how the weights fit the network
};

// Of the options only data, network, architecture and threads count. weights: safetensors or Keras's HDF5.
NetworkEvaluation evaluate_network(const TrainOptions& options, const std::string& weights);

}  // namespace lipschitzlr::run
