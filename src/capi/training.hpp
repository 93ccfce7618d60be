#pragma once
// A training of rows that lie in a caller's memory: the steps of linear/fit.hpp without a table. The only matrix that
// is made is the design, which is what the solver works on; the choice of l2 makes a table while it lasts.

#include <string>

#include "capi/matrix.hpp"
#include "capi/options.hpp"
#include "lipschitzlr/linear/model.hpp"

namespace lipschitzlr::capi {

// Throws Error (data) when there is nothing to learn, Error (training) when the loss became NaN or infinite, Error
// (interrupted) when options.stop was set meanwhile. start: a model with as many features and classes, or nullptr.
linear::Model train(const Options& options, const Training& training, const linear::Model* start);

// The JSON of lipschitzlr_rates.
std::string rates(const Options& options, const Training& training);

struct RawWeights {
  DenseMatrix<double> coefficients;  // outputs x features
  Vector<double> intercepts;         // 0 without one
};

// What multiplies features that are not scaled: x' = (x - offset) factor in x'W.
RawWeights raw_weights(const linear::Model& model);

// rows x outputs, block by block: the design of all rows is never made.
DenseMatrix<double> scores(const linear::Model& model, const data::FeatureView& features, unsigned threads);

}  // namespace lipschitzlr::capi
