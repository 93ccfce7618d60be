#pragma once
// The choice of a first-epoch rate by short trials, as the paper does it for AdaMo's x (section 9.3.2): 0.1, 0.5
// and 1.0, five short epochs each.

#include <functional>
#include <string>
#include <vector>

#include "lipschitzlr/run/network_choice.hpp"

namespace lipschitzlr::run {

// The candidate with the best accuracy on training images that its trial did not see, as a text that reads back the
// same.
std::string search_first_rate(const NetworkChoice& choice, const data::ImageSet& images,
                              const std::vector<Index>& training, Team* team,
                              const std::function<void(const std::string&)>& say);

}  // namespace lipschitzlr::run
