#pragma once
// Rows of any table by name: "table1/boston", or "mnist-cnn-sgd-adaptive" when only one table has it.

#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_recipe.hpp"
#include "lipschitzlr/experiment/recipe.hpp"

namespace lipschitzlr::experiment {

struct Selection {
  std::vector<Recipe> linear;  // tables 1 and 2, in the order of the paper
  std::vector<NetworkRecipe> networks;
};

// Throws Error (usage) when there is no such row, or several tables have it.
Selection select_rows(const std::vector<std::string>& names);
Selection all_rows();

}  // namespace lipschitzlr::experiment
