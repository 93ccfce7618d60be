#pragma once
// A Lipschitz constant that can explain itself: its name, its value, the formula and the numbers that went in.

#include <optional>
#include <string>
#include <vector>

namespace lipschitzlr::bound {

// The three of the loss (loss.hpp) and the gradient's (gradient.hpp).
enum class ConstantKind { published, coded, certified, gradient };

inline constexpr ConstantKind kConstantKinds[] = {ConstantKind::published, ConstantKind::coded, ConstantKind::certified,
                                                  ConstantKind::gradient};

std::string to_string(ConstantKind kind);  // "published", ...
std::optional<ConstantKind> constant_kind_from(const std::string& name);

struct Input {
  std::string symbol;  // as it stands in the formula: "K", "m", "||X||_F"
  double value;
};

struct Constant {
  std::string name;  // to_string of its kind
  double value = 0;
  std::string formula;  // ASCII: "K/m ||X'X||_F + 1/m ||y'X||"
  std::vector<Input> inputs;

  double rate() const { return 1 / value; }
  // "published L = K/m ||X'X||_F + 1/m ||y'X|| = 0.20974, with K = 514.379, ..., m = 506"
  std::string explain() const;
};

}  // namespace lipschitzlr::bound
