#pragma once
// The state of a solver between two epochs: enough to continue bit for bit with the same problem and the same options.
// As text it is a JSON object in which every number keeps all its bits.

#include <cstdint>
#include <string>
#include <vector>

#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

template <class Scalar>
struct State {
  Weights<Scalar> weights;             // empty: start at zero
  std::string solver;                  // that the rest belongs to, by name; empty: a start, not a continuation
  Weights<Scalar> first, second;       // the solver's own vectors; empty when it has none
  std::vector<Weights<double>> pairs;  // lbfgs: changes of weights and gradient in turn, the oldest first
  double momentum = 1;                 // accelerated: t
  std::int64_t epoch = 0, step = 0;
  Weights<Scalar> best;  // early stopping: the weights with the lowest held-out loss; empty without it
  double best_loss = 0;  // ... that loss
  std::int64_t best_epoch = 0;
  int quiet = 0;       // measurements in a row within the relative tolerance
  std::string rule;    // rate::Rule::save(); empty before the first step
  std::string random;  // Random::save(); empty: start from the seed
};

// Throws Error (data) unless the state has features x outputs weights and possible counts: a file may hold anything.
template <class Scalar>
void check_fits(const State<Scalar>& state, Index features, Index outputs);

template <class Scalar>
std::string to_json(const State<Scalar>& state);

// name stands in error messages. Throws Error (data) when the text is damaged.
template <class Scalar>
State<Scalar> state_from_json(const std::string& text, const std::string& name);

}  // namespace lipschitzlr::linear
