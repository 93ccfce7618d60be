#pragma once
// The rules of experiment/verdict.hpp for either kind of row, once it was run.

#include "lipschitzlr/experiment/verdict.hpp"

namespace lipschitzlr::experiment {

Verdict judge_linear(const Row& row);
Verdict judge_network(const Row& row);

// "Seed 1: best 88.1 % in epoch 7 of 8, last 87.9 %.", of the first so many epochs of a network.
std::string best_and_last(const Run& run, const std::string& lead, std::size_t epochs = kAllEpochs);

}  // namespace lipschitzlr::experiment
