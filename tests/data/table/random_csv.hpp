#pragma once
// Random texts of tables whose columns change their kind on the way, some of them with something wrong.

#include <string>
#include <vector>

#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::data {

// A column of one kind of cell, in which another kind may begin at some row.
inline std::string random_cell(Random& random, std::uint64_t kind) {
  const std::string number = std::to_string(random.below(12));
  switch (kind) {
    case 0:
      return number;
    case 1:
      return "0" + number + ".0";
    case 2:
      return "level " + number;
    case 3:
      return "\"quoted, " + number + "\"";
    case 4:
      return "2024-02-1" + std::to_string(random.below(10));
    case 5:
      return "";
    case 6:
      return "?";
    case 7:
      return "new" + std::to_string(random.below(1000000));
    case 8:
      return random.below(40) == 0 ? "inf" : number;
    case 9:
      return random.below(40) == 0 ? "\"open" : number;
    case 10:
      return random.below(40) == 0 ? "1,2" : number;
    case 11:
      return random.below(40) == 0 ? "\xff" : "a";
    default:
      return number + "." + std::to_string(random.below(1000));
  }
}

inline std::string random_table(Random& random) {
  constexpr std::uint64_t kKinds = 13;
  const std::size_t columns = 2 + random.below(4), rows = 1 + random.below(120);
  std::vector<std::uint64_t> kinds(columns), later(columns), change(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    kinds[i] = random.below(3) == 0 ? random.below(kKinds) : random.below(8);
    later[i] = random.below(3) == 0 ? random.below(kKinds) : kinds[i];
    change[i] = random.below(rows + 1);
  }
  std::string text;
  for (std::size_t i = 0; i < columns; ++i) text += (i > 0 ? ",c" : "c") + std::to_string(i);
  text += '\n';
  for (std::size_t row = 0; row < rows; ++row) {
    if (random.below(400) == 0) text += '\n';
    for (std::size_t i = 0; i < columns; ++i) {
      text += (i > 0 ? "," : "") + random_cell(random, row < change[i] ? kinds[i] : later[i]);
    }
    text += '\n';
  }
  return text + (random.below(4) == 0 ? "\n \n" : "");
}

}  // namespace lipschitzlr::data
