#pragma once
// All rate rules by name. A new rule is one file and one line in registry.cpp.

#include <memory>
#include <string>
#include <vector>

#include "lipschitzlr/rate/rule.hpp"

namespace lipschitzlr::rate {

struct RuleInfo {
  std::string name;
  std::string description;  // one line
};

std::vector<RuleInfo> rules();

// Throws Error (usage) that lists the names when there is no such rule, or names the option that makes no sense.
std::unique_ptr<Rule> make_rule(const std::string& name, const RuleOptions& options = {});

// The rule whose save() gave this text, in the same state. Throws Error (data) when the text is damaged or newer.
std::unique_ptr<Rule> load_rule(const std::string& text);

}  // namespace lipschitzlr::rate
