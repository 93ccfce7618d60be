#pragma once
// The curves of the paper's authors, epoch by epoch, as they are in experiments/curves (from their public histories,
// shortened to four digits), in the form of our own records: what a row of table3 came to when the authors trained it.

#include <string>

#include "lipschitzlr/run/record.hpp"

namespace lipschitzlr::experiment {

// By name, "CIFAR10/Momentum/ResNet/Adaptive/1e-3"; nullptr when there is none. Its columns are val_accuracy and
// val_loss (on the test set), accuracy and loss (in training, with the L2 penalty, as Keras reports it) and, where the
// authors kept it, rate (computed, before decay).
const run::Record* authors_curve(const std::string& name);

// Where they come from, in a sentence.
const std::string& authors_curves_source();

}  // namespace lipschitzlr::experiment
