#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"

namespace lipschitzlr {
namespace {

constexpr std::string_view kSizeUnits = " KMGT";

unsigned char byte_of(char letter) { return static_cast<unsigned char>(letter); }

struct Lead {
  unsigned char mask;
  unsigned char bits;   // of the first byte under the mask
  std::size_t size;     // of the character in bytes
  std::uint32_t least;  // the first character that needs as many
};

constexpr std::array<Lead, 4> kLeads = {
    {{0x80, 0x00, 1, 0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}}};

struct Character {
  std::size_t size = 0;  // in bytes; 0: the text begins with none
  std::uint32_t code = 0;
};

Character first_character(std::string_view text) {
  const unsigned char first = byte_of(text[0]);
  for (const Lead& lead : kLeads) {
    if ((first & lead.mask) != lead.bits) continue;
    if (text.size() < lead.size) return {};
    std::uint32_t code = first & static_cast<unsigned char>(~lead.mask);
    for (const char letter : text.substr(1, lead.size - 1)) {
      if ((byte_of(letter) & 0xC0) != 0x80) return {};
      code = code << 6 | (byte_of(letter) & 0x3F);
    }
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < lead.least || code > 0x10FFFF || is_surrogate) return {};
    return {lead.size, code};
  }
  return {};
}

// A terminal obeys these, whether they come as one byte or as UTF-8 (U+0080 to U+009F).
bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

// How many letters have to be put in, left out, replaced or swapped with their neighbour to make one name the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), row;
  std::iota(last.begin(), last.end(), 0);
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i]) == lower(b[j]); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    row.assign(1, i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      row.push_back(std::min({last[j] + (same(i, j) ? 0 : 1), row[j] + 1, last[j + 1] + 1}));
      const bool swapped = i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j);
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(last, std::move(row));
    row = {};
  }
  return last.back();
}

std::string doubled(const std::string& text, char quote, const std::string& inner) {
  std::string quoted(1, quote);
  for (const char letter : text) quoted += letter == quote ? inner : std::string(1, letter);
  return quoted + quote;
}

}  // namespace

std::string wrap_items(const std::string& lead, const std::vector<std::string>& items, const std::string& gap,
                       std::size_t width) {
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

std::string wrap(const std::string& lead, const std::string& sentence, std::size_t width) {
  std::string blanks = sentence;
  std::replace(blanks.begin(), blanks.end(), '\n', ' ');
  std::vector<std::string> words = split(blanks, ' ');
  std::erase(words, "");
  return wrap_items(lead, words, " ", width);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

std::string format_count(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > (count < 0); place -= 3) {
    digits.insert(digits.begin() + place, ',');
  }
  return digits;
}

std::string format_bytes(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  return bytes < 1e6 ? fmt::format("{:.1f} kB", bytes / 1e3) : fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string format_size(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (unit + 1 < kSizeUnits.size() && bytes > 0 && bytes % 1024 == 0) bytes /= 1024, ++unit;
  return std::to_string(bytes) + (unit > 0 ? std::string(1, kSizeUnits[unit]) : "");
}

std::optional<std::uint64_t> size_from(std::string_view text) {
  constexpr double kMostBytes = 1e18;
  double factor = 1;
  for (std::size_t unit = 1; unit < kSizeUnits.size() && !text.empty(); ++unit) {
    if (std::toupper(static_cast<unsigned char>(text.back())) != kSizeUnits[unit]) continue;
    factor = std::pow(1024.0, static_cast<double>(unit));
    text.remove_suffix(1);
    break;
  }
  const std::optional<double> number = number_from(text);
  if (!number || !(*number >= 0) || *number * factor > kMostBytes) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*number * factor));
}

std::string format_duration(double seconds) {
  if (seconds < 1 && seconds > 0) return "less than 1 s";
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

std::string format_clock(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string csv_field(const std::string& text) {
  return text.find_first_of(",\"\n\r") == std::string::npos ? text : doubled(text, '"', "\"\"");
}

std::string shell_words(const std::vector<std::string>& words) {
  const auto plain = [](char letter) {
    return std::isalnum(byte_of(letter)) != 0 || std::string_view("-_./=:,+%@").find(letter) != std::string_view::npos;
  };
  std::string command;
  for (const std::string& word : words) {
    if (&word != words.data()) command += ' ';
    const bool bare = !word.empty() && std::all_of(word.begin(), word.end(), plain);
    command += bare ? word : doubled(word, '\'', "'\\''");
  }
  return command;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = first_character(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t size = std::max<std::size_t>(1, character.size);
    if (character.size > 0 && !is_control(character.code)) {
      shown += text.substr(0, size);
    } else {
      for (const char letter : text.substr(0, size)) shown += fmt::format("\\x{:02X}", byte_of(letter));
    }
    text.remove_prefix(size);
  }
  return shown;
}

std::string_view shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (byte_of(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string table_cell(std::string_view text, std::size_t width) {
  std::string shown = printable(text);
  const auto characters = [&] {
    return static_cast<std::size_t>(
        std::count_if(shown.begin(), shown.end(), [](char c) { return (byte_of(c) & 0xC0) != 0x80; }));
  };
  if (characters() > width) {
    while (!shown.empty() && characters() > width - 3) shown.resize(shortened(shown, shown.size() - 1).size());
    shown += "...";
  }
  return shown.append(width - characters(), ' ');
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  const std::string_view begin = shortened(text, kLongest);
  return fmt::format("\"{}{}\"", printable(begin), begin.size() < text.size() ? "..." : "");
}

const std::string* closest(const std::string& typed, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestName = 100;
  std::size_t nearest = std::max<std::size_t>(1, typed.size() / 3) + 1;
  const std::string* best = nullptr;
  for (const std::string& name : names) {
    if (name.empty() || std::max(name.size(), typed.size()) > kLongestName) continue;
    const std::size_t slips = distance(typed, name);
    if (slips < nearest) nearest = slips, best = &name;
  }
  return best;
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names) {
  const std::string* const meant = closest(typed, names);
  return meant == nullptr ? "" : fmt::format(" (did you mean {}?)", *meant);
}

}  // namespace lipschitzlr
