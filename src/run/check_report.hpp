#pragma once
// What `train --check` leaves: columns in the lines of epochs, counts in the summary, and a sentence at the end.

#include <nlohmann/json.hpp>
#include <string>

#include "lipschitzlr/nn/check_counts.hpp"

namespace lipschitzlr::run {

void add_check(nlohmann::ordered_json& line, const nn::CheckCounts& counts);  // as shares of the epoch's steps
void add_counts(nn::CheckCounts& total, const nn::CheckCounts& epoch);        // the counts alone
nlohmann::ordered_json to_json(const nn::CheckCounts& total);
std::string check_sentence(const nn::CheckCounts& total);

}  // namespace lipschitzlr::run
