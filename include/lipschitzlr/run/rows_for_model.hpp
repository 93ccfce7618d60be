#pragma once
// Rows for a trained model: columns found by name when the file has names, by place otherwise; classes matched to the
// model's labels.

#include <string>

#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/linear/model.hpp"

namespace lipschitzlr::run {

enum class Target { required, ignored };

// Throws Error (data) when columns are missing, the target is required and missing, or a row has a class the model does
// not know.
data::Table load_rows(const linear::Model& model, const std::string& source, data::ReadOptions options, Target target);

}  // namespace lipschitzlr::run
