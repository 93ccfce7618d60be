#pragma once
// While an object of this class lives, the parameters of an optimizer hold the weights to evaluate and to use:
// Schedule-Free's and DoG's averages. Of most optimizers these are the trained weights, and nothing happens.
//
//   { const EvaluationWeights now(*optimizer);  accuracy = evaluate(model); }
//
// Running statistics of batch norm are those of the trained weights: forward passes in training mode refresh them.

#include <utility>
#include <vector>

#include "lipschitzlr/nn/optimizer.hpp"

namespace lipschitzlr::nn {

class EvaluationWeights {
 public:
  explicit EvaluationWeights(Optimizer& optimizer);
  ~EvaluationWeights();  // the trained weights are back, bit for bit
  EvaluationWeights(const EvaluationWeights&) = delete;
  EvaluationWeights& operator=(const EvaluationWeights&) = delete;

  bool differ() const { return !trained_.empty(); }  // from the trained weights

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> trained_;  // a parameter, and its values kept aside
};

}  // namespace lipschitzlr::nn
