#include "nn/keras_order.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace lipschitzlr::nn {
namespace {

struct Numbered {
  std::string stem;
  std::string number;  // digits without leading zeros; of any length
};

// "conv2d_12" -> "conv2d", "12"; stems has the names that others extend by _1, _2, ..., so that batch_normalization_v1
// is the first of its kind and not number 1 of batch_normalization_v.
Numbered split(const std::string& name, const std::set<std::string>& stems) {
  if (stems.contains(name)) return {name, ""};
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  std::string number = name.substr(digits);
  number.erase(0, std::min(number.find_first_not_of('0'), number.size()));
  const std::size_t end = digits > 0 && digits < name.size() && name[digits - 1] == '_' ? digits - 1 : digits;
  return {name.substr(0, end), number};
}

std::set<std::string> extended_names(const std::vector<std::string>& names) {
  const std::set<std::string> all(names.begin(), names.end());
  std::set<std::string> stems;
  for (const std::string& name : names) {
    const std::size_t underscore = name.rfind('_');
    if (underscore == std::string::npos || underscore + 1 == name.size()) continue;
    if (name.find_first_not_of("0123456789", underscore + 1) != std::string::npos) continue;
    if (all.contains(name.substr(0, underscore))) stems.insert(name.substr(0, underscore));
  }
  return stems;
}

}  // namespace

std::vector<std::size_t> creation_order(const std::vector<std::string>& names) {
  const std::set<std::string> stems = extended_names(names);
  std::vector<Numbered> split_names;
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    split_names.push_back(split(names[i], stems));
    places[split_names.back().stem].push_back(i);
  }
  std::vector<std::size_t> order(names.size());
  for (const auto& [stem, taken] : places) {
    std::vector<std::size_t> sorted = taken;
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t i, std::size_t j) {
      const std::string &left = split_names[i].number, &right = split_names[j].number;
      return std::pair(left.size(), left) < std::pair(right.size(), right);
    });
    for (std::size_t i = 0; i < taken.size(); ++i) order[taken[i]] = sorted[i];
  }
  return order;
}

}  // namespace lipschitzlr::nn
