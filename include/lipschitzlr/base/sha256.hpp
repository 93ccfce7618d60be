#pragma once
// SHA-256 (FIPS 180-4), by which a file is known to be the one it should be.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lipschitzlr {

class Sha256 {
 public:
  void add(std::string_view bytes);
  std::string finish();  // 64 lower-case hexadecimal digits; the object is then used up

 private:
  void absorb(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::string& path);  // throws Error (data) when it can't be read

}  // namespace lipschitzlr
