#pragma once
// Sentences for a terminal: broken into lines, and with the number that fits the noun.

#include <cstddef>
#include <string>
#include <vector>

namespace lipschitzlr {

inline constexpr std::size_t kTextWidth = 100;

// Items in lines of at most width characters, none broken, the later lines indented to stand under the first.
inline std::string wrap_items(const std::string& lead, const std::vector<std::string>& items, const std::string& gap,
                              std::size_t width = kTextWidth) {
  std::string text, line = lead;
  bool fresh = true;
  for (const std::string& item : items) {
    if (!fresh && line.size() + gap.size() + item.size() > width) {
      text += line + "\n";
      line = std::string(lead.size(), ' ');
      fresh = true;
    }
    if (!fresh) line += gap;
    line += item;
    fresh = false;
  }
  return text + line + "\n";
}

// The same for the words of a sentence.
inline std::string wrap(const std::string& lead, const std::string& sentence, std::size_t width = kTextWidth) {
  std::vector<std::string> words(1);
  for (const char letter : sentence) {
    if (letter == ' ' || letter == '\n') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  if (words.back().empty()) words.pop_back();
  return wrap_items(lead, words, " ", width);
}

// "1 row", "2 rows"
template <class Count>
std::string counted(Count count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace lipschitzlr
