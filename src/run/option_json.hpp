#pragma once
// Options as JSON, each under its name: what records and model files keep of them.

#include <nlohmann/json.hpp>

#include "lipschitzlr/run/option.hpp"

namespace lipschitzlr::run {

nlohmann::ordered_json to_json(const Options& options);

// Sets the options from the JSON in a file; null leaves one as it is. Throws Error (data) naming the file and the
// option that is of another kind, or missing unless it was added later.
void read_json(const Options& options, const nlohmann::ordered_json& json, const std::string& file);

}  // namespace lipschitzlr::run
