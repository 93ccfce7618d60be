#include "lipschitzlr/bound/constant.hpp"

#include <fmt/format.h>

namespace lipschitzlr::bound {

std::string Constant::explain() const {
  std::string text = fmt::format("{} = {} = {:.6g}", name, formula, value);
  const char* joint = ", with ";
  for (const Input& input : inputs) {
    text += fmt::format("{}{} = {:.6g}", joint, input.symbol, input.value);
    joint = ", ";
  }
  return text;
}

}  // namespace lipschitzlr::bound
