#pragma once
// What the writer and the reader of a packed table (packed.hpp) share.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "lipschitzlr/base/column_sums.hpp"

namespace lipschitzlr::data {

inline constexpr std::string_view kPackedMagic = "lrdata\r\n";
inline constexpr std::uint32_t kPackedVersion = 1;
inline constexpr std::size_t kPackedStart = 16, kPackedEnd = 24;

// Fields of the header's sums.
inline constexpr std::pair<const char*, ColumnSums::Row ColumnSums::*> kPackedSums[] = {
    {"sum", &ColumnSums::sum},   {"magnitude", &ColumnSums::magnitude}, {"low", &ColumnSums::low},
    {"high", &ColumnSums::high}, {"left", &ColumnSums::left},           {"squares", &ColumnSums::squares}};

inline bool looks_like_packed(std::string_view first_bytes) { return first_bytes.starts_with(kPackedMagic); }

inline void append_number(std::string& to, std::uint64_t number) {
  for (int byte = 0; byte < 8; ++byte) to.push_back(static_cast<char>(number >> (8 * byte)));
}

inline std::uint64_t number_at(const char* from) {
  std::uint64_t number = 0;
  for (int byte = 7; byte >= 0; --byte) number = number << 8 | static_cast<unsigned char>(from[byte]);
  return number;
}

// Of bytes that come in pieces. Each step is a bijection of the sum, and of the word: a change of up to eight bytes
// that stand together in a word always shows, any other in all but one of 2^64 cases.
class Checksum {
 public:
  void add(std::string_view bytes) {
    size_ += bytes.size();
    while (filled_ > 0 && !bytes.empty()) add_byte(bytes.front()), bytes.remove_prefix(1);
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) add_word(number_at(bytes.data()));
    for (const char byte : bytes) add_byte(byte);
  }
  std::uint64_t sum() const {
    Checksum rest = *this;
    rest.add_word(rest.word_);
    rest.add_word(size_);
    return rest.sum_;
  }

 private:
  void add_byte(char byte) {
    word_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte)) << (8 * filled_);
    if (++filled_ < 8) return;
    add_word(word_);
    word_ = 0, filled_ = 0;
  }
  void add_word(std::uint64_t word) {
    sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15;
    sum_ ^= sum_ >> 29;
  }

  std::uint64_t sum_ = 0x243f6a8885a308d3, size_ = 0, word_ = 0;
  int filled_ = 0;
};

inline std::uint64_t checksum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.sum();
}

inline std::string packed_start() {
  std::string start(kPackedMagic);
  append_number(start, kPackedVersion);
  return start;
}

// All that follows the targets, from the checksums on.
inline std::string packed_end(std::string sums, const std::string& header) {
  std::string size;
  append_number(size, header.size());
  const std::uint64_t sum = checksum_of(packed_start() + sums + header + size);
  std::string end = std::move(sums) + header + size;
  append_number(end, sum);
  return end.append(kPackedMagic);
}

inline std::string_view bytes_of(const double* numbers, std::size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(double)};
}

}  // namespace lipschitzlr::data
