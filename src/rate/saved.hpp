#pragma once
// A rule's state between save() and load(): plain values on one side, versioned JSON on the other. Numbers are written
// with as many digits as bring back the same bits.

#include <cstdint>
#include <string>

#include "lipschitzlr/rate/rule.hpp"

namespace lipschitzlr::rate {

struct Saved {
  std::string rule;
  RuleOptions options;
  std::uint64_t observations = 0;
  bool first_epoch_over = false;
  Rule::Numbers numbers;
};

std::string to_json(const Saved& saved);

// Throws Error (data) when the text is no saved rule, damaged or of a newer version.
Saved saved_from_json(const std::string& text);

}  // namespace lipschitzlr::rate
