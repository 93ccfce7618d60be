#pragma once
// The error of a file that can't be used.

#include <string>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {

[[noreturn]] inline void fail(const std::string& file, const std::string& reason) {
  throw Error(Fault::data, file + ": " + reason);
}

}  // namespace lipschitzlr::data
