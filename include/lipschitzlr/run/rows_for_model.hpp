#pragma once
// Rows for a trained model: columns matched by name and encoded as in training, classes matched to the model's labels.

#include <string>

#include "lipschitzlr/data/table/read.hpp"
#include "lipschitzlr/linear/table_model.hpp"

namespace lipschitzlr::run {

enum class Target { required, ignored };

// By name when the model and the rows have names, by position when neither has any; what else there is needs
// by_position, which does not look at names.
enum class Columns { by_name, by_position };

// Whether a column that is missing, or a level that the model does not know, is an error or a remark; all columns of
// the model missing is always an error, and so is one of a model whose file does not tell its columns.
enum class Unknown { remark, error };

// Throws Error (data) when columns don't match, the target is required and missing, or a row has a class the model does
// not know.
data::Table load_rows(const linear::TableModel& model, const std::string& source, data::ReadOptions options,
                      Target target, Columns columns = Columns::by_name, Unknown unknown = Unknown::remark);

}  // namespace lipschitzlr::run
