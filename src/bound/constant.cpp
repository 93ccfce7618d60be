#include "lipschitzlr/bound/constant.hpp"

#include <fmt/format.h>

namespace lipschitzlr::bound {

std::string Constant::explain() const {
  const char* symbol = name == "gradient" ? "beta" : "L";
  std::string text = fmt::format("{} {} = {} = {:.6g}", name, symbol, formula, value);
  const char* joint = ", with ";
  for (const Input& input : inputs) {
    text += fmt::format("{}{} = {:.6g}", joint, input.symbol, input.value);
    joint = ", ";
  }
  return text;
}

}  // namespace lipschitzlr::bound
