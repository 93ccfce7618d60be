#pragma once
// The one source of randomness: a seeded 64-bit Mersenne Twister with distributions written out here, because the
// standard library's differ between compilers and a seed must mean the same numbers everywhere. Its state is text.

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>

namespace lipschitzlr {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  double uniform();                          // in [0, 1), 53 bits
  double normal();                           // N(0, 1), Box-Muller, one number a call
  std::uint64_t below(std::uint64_t bound);  // in [0, bound), without bias; bound >= 1

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  std::string save() const;
  void load(const std::string& state);  // throws Error (data) when it is not a saved state

 private:
  std::mt19937_64 engine_;
};

}  // namespace lipschitzlr
