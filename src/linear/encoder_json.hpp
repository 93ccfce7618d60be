#pragma once
// The columns of a model file: data::Encoder as JSON.

#include <string>
#include <vector>

#include "base/json.hpp"
#include "lipschitzlr/data/table/encoder.hpp"

namespace lipschitzlr::linear {

nlohmann::json encoder_json(const data::Encoder& encoder);
// Throws Error (data) with the rest of a sentence, also when the columns do not make the features.
data::Encoder encoder_from(const nlohmann::json& object, const std::vector<std::string>& feature_names);

}  // namespace lipschitzlr::linear
