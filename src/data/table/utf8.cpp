#include "data/table/utf8.hpp"

#include <array>
#include <cstdint>

namespace lipschitzlr::data {
namespace {

struct Lead {
  unsigned char mask;
  unsigned char bits;   // of the first byte under the mask
  std::size_t size;     // of the character in bytes
  std::uint32_t least;  // the first character that needs as many
};

constexpr std::array<Lead, 4> kLeads = {
    {{0x80, 0x00, 1, 0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}}};

// How many bytes the character at the start takes; 0 when there is none.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  for (const Lead& lead : kLeads) {
    if ((first & lead.mask) != lead.bits) continue;
    if (text.size() < lead.size) return 0;
    std::uint32_t character = first & static_cast<unsigned char>(~lead.mask);
    for (char c : text.substr(1, lead.size - 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte & 0xC0) != 0x80) return 0;
      character = character << 6 | (byte & 0x3F);
    }
    const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
    return character < lead.least || character > 0x10FFFF || is_surrogate ? 0 : lead.size;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace lipschitzlr::data
