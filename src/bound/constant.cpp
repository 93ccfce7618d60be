#include "lipschitzlr/bound/constant.hpp"

#include <fmt/format.h>

namespace lipschitzlr::bound {

std::string to_string(ConstantKind kind) {
  static constexpr const char* kNames[] = {"published", "coded", "certified", "gradient"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<ConstantKind> constant_kind_from(const std::string& name) {
  for (ConstantKind kind : kConstantKinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

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
