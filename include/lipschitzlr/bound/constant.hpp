#pragma once
// A Lipschitz constant that can explain itself: its name, its value, the formula and the numbers that went in.

#include <string>
#include <vector>

namespace lipschitzlr::bound {

struct Input {
  std::string symbol;  // as it stands in the formula: "K", "m", "||X||_F"
  double value;
};

struct Constant {
  std::string name;  // "published", "coded", "certified", "gradient"
  double value = 0;
  std::string formula;  // ASCII: "K/m ||X'X||_F + 1/m ||y'X||"
  std::vector<Input> inputs;

  double rate() const { return 1 / value; }
  // "published L = K/m ||X'X||_F + 1/m ||y'X|| = 0.20974, with K = 514.379, ..., m = 506"
  std::string explain() const;
};

}  // namespace lipschitzlr::bound
