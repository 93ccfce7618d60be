#pragma once
// The tap on a network's last layer: it sees the penultimate activations of each batch and keeps their norms only,
// those of the last batch and the largest since reset(). A Head feeds it; a model without a Head may call observe()
// itself. When asked to, a Head also has the backward pass tell its constant in closed form (rate/auto.hpp):
//   h = sum_i |dz_i|_1 |a_i|_1,   never below |dL/dW|_1 of the layer's weights W
// and the tight constant of the loss, from the batch's own residuals, dz_i = (p_i - y_i)/m for cross-entropy:
//   t = sum_i ||dz_i|| ||a_i||,   never below ||dL/dW||_F, because dL/dW = sum_i dz_i a_i'; the same for one row

#include <cstdint>
#include <utility>
#include <vector>

#include "lipschitzlr/nn/penultimate.hpp"

namespace lipschitzlr::nn {

struct TapReading {
  PenultimateNorms last;
  // Each number at its maximum over the batches; row_norm_sum belongs to the largest mean (1/m) sum ||a_i||.
  PenultimateNorms largest;
  std::int64_t batches = 0;
  std::vector<PenultimateNorms> kept = {};  // those of every batch, where that is asked for
};

// Of the passes since it was last taken.
struct HeadReading {
  std::int64_t forward = 0, backward = 0;
  double constant = 0;  // h
  at::Tensor weight;    // W
};

class Tap {
 public:
  // outputs: of the layer, which is how many classes there are; 0: not known.
  explicit Tap(Index outputs = 0) : outputs_(outputs) {}
  Index outputs() const { return outputs_; }

  void observe(const at::Tensor& activations);  // throws as measure_penultimate
  // Of a regression, after the forward pass of each batch: its outputs and targets, whose norms the loss's constant
  // asks for (squared_error()).
  void observe_numbers(const at::Tensor& outputs, const at::Tensor& targets);
  void add(const PenultimateNorms& norms);
  // What is observed goes there instead, until null is given: for a caller that has more images of the batch in other
  // processes and calls add() with the norms of all. The target must outlive that.
  void divert(PenultimateNorms* target) { target_ = target; }
  const TapReading& reading() const { return reading_; }
  void restore(const TapReading& reading) { reading_ = reading; }
  void reset() { reading_ = {}; }
  void keep_batches(bool wanted) { keeps_batches_ = wanted; }

  void want_head_constant(bool wanted) { wants_head_constant_ = wanted; }
  bool wants_head_constant() const { return wants_head_constant_; }
  void want_tight_constant(bool wanted) { wants_tight_constant_ = wanted; }
  bool wants_tight_constant() const { return wants_tight_constant_; }
  double& tight_constant() { return tight_constant_; }  // summed over the backward passes since it was last taken
  double take_tight_constant() { return std::exchange(tight_constant_, 0); }
  HeadReading& head() { return head_; }
  HeadReading take_head() { return std::exchange(head_, {}); }

 private:
  void include_numbers(const PenultimateNorms& norms);

  Index outputs_;
  TapReading reading_;
  PenultimateNorms* target_ = nullptr;
  bool keeps_batches_ = false;
  bool wants_head_constant_ = false, wants_tight_constant_ = false;
  double tight_constant_ = 0;
  HeadReading head_;
};

}  // namespace lipschitzlr::nn
