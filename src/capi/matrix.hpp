#pragma once
// Memory of a caller as matrices of ours: checked, then read where it is.

#include <string>
#include <vector>

#include "lipschitzlr/c_api.h"
#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::capi {

// Throws Error (usage) for sizes and pointers that can't be, Error (data) for columns out of order and for numbers that
// are NaN or infinite.
data::FeatureView view_of(const lipschitzlr_matrix& matrix);

bool is_single(const data::FeatureView& features);

// Some rows that follow one another.
data::FeatureView middle_rows(const data::FeatureView& features, Index first, Index count);

using VectorView = Eigen::Map<const Vector<double>>;

// What to learn from, features and target where they are.
struct Training {
  data::FeatureView features;
  VectorView target;
  std::vector<std::string> labels;
  Vector<double> row_weights;  // empty: all 1
  std::vector<std::string> names;
  bool has_names;
};

Training training_of(const lipschitzlr_rows& rows);

}  // namespace lipschitzlr::capi
