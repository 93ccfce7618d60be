#pragma once
// The part of a recipe that is of a network.

#include "experiment/fields.hpp"
#include "lipschitzlr/experiment/recipe.hpp"

namespace lipschitzlr::experiment {

// Everything but what all recipes have; throws Error (data) as parse_recipe does.
NetworkTraining read_network(Fields& fields, const Recipe& recipe);

}  // namespace lipschitzlr::experiment
