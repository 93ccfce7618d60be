#pragma once
// Text for people and programs: lines for a terminal, numbers and durations in words, quoting for CSV, shells and
// messages.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lipschitzlr {

inline constexpr std::size_t kTextWidth = 100;

// Items in lines of at most width characters, none broken, the later lines indented to stand under the first.
std::string wrap_items(const std::string& lead, const std::vector<std::string>& items, const std::string& gap,
                       std::size_t width = kTextWidth);
// The same for the words of a sentence.
std::string wrap(const std::string& lead, const std::string& sentence, std::size_t width = kTextWidth);

// The parts between the separators: one more than there are of them.
std::vector<std::string> split(const std::string& text, char separator);

// "1 row", "2 rows"
template <class Count>
std::string counted(Count count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string format_count(double count);                         // 489,592
std::string format_bytes(double bytes);                         // 812 B, 3.4 kB, 170.5 MB
std::string format_size(std::uint64_t bytes);                   // as size_from reads it: 1G, 512M, 1000
std::optional<std::uint64_t> size_from(std::string_view text);  // bytes; K, M, G and T are powers of 1024
std::string format_duration(double seconds);                    // 0 s, less than 1 s, 48 s, 25 min, 3.5 h, 12 days
std::string format_clock(double seconds);                       // 0:42, 12:05, 3:00:00; rounded up

// A field of a CSV file: in double quotes when it must be.
std::string csv_field(const std::string& text);
// Words as a POSIX shell takes them, each quoted when it must be, with a space between.
std::string shell_words(const std::vector<std::string>& words);

// Strict: no character in more bytes than it needs, no surrogate halves, nothing above U+10FFFF. What ends in a JSON
// file must be.
bool is_utf8(std::string_view text);
// Its first bytes, at most so many, without breaking a character.
std::string_view shortened(std::string_view text, std::size_t most);
// Text from a file or a file name, for a terminal: control characters and what is not UTF-8 become \xNN.
std::string printable(std::string_view text);
// The same as the cell of a table: padded on the right, or cut with "..." where it is longer; characters are taken to
// be one column wide.
std::string table_cell(std::string_view text, std::size_t width);
// The same in double quotes, shortened when long.
std::string in_quotes(std::string_view text);

// The name that is a few slips of the keyboard away from what was typed, upper and lower case alike; null when none is.
const std::string* closest(const std::string& typed, const std::vector<std::string>& names);
// " (did you mean NAME?)" with the closest one, or nothing.
std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names);

}  // namespace lipschitzlr
