#pragma once
// The curves of the paper's authors, epoch by epoch, as they lie in experiments/curves (from their public histories,
// shortened to four digits): what a row of table3 did in their hands, best and last epoch and all between.

#include <string>
#include <vector>

namespace lipschitzlr::experiment {

struct Curve {
  std::string name;                  // "CIFAR10/Momentum/ResNet/Adaptive/1e-3"
  std::vector<double> val_accuracy;  // shares, on the test set
  std::vector<double> accuracy;      // in training
  std::vector<double> loss;          // in training, with the L2 penalty, as Keras reports it
  std::vector<double> val_loss;      // on the test set
  std::vector<double> rate;          // computed, before decay; empty when the authors did not keep it
};

// All of them by name.
const std::vector<Curve>& authors_curves();

// nullptr when there is none of that name.
const Curve* authors_curve(const std::string& name);

// Where they come from, in a sentence.
const std::string& authors_curves_source();

}  // namespace lipschitzlr::experiment
