#pragma once
// Rows for a trained model: columns matched by name, classes to the model's labels.

#include <string>

#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/linear/model.hpp"

namespace lipschitzlr::run {

enum class Target { required, ignored };

// By name when the model and the rows have names, by position when neither has any; what else there is needs
// by_position, which does not look at names.
enum class Columns { by_name, by_position };

// Throws Error (data) when columns don't match or are missing, the target is required and missing, or a row has a class
// the model does not know.
data::Table load_rows(const linear::Model& model, const std::string& source, data::ReadOptions options, Target target,
                      Columns columns = Columns::by_name);

}  // namespace lipschitzlr::run
