#pragma once
// Seeds of the streams of random numbers that batches draw from.

#include <cstdint>

namespace lipschitzlr::data {

// What the numbers drawn are for, so that no two uses share a stream.
inline constexpr std::uint64_t kOrder = 1, kWarp = 2;

// One 64-bit number that every bit of both changes: a multiplicative hash with xor-shifts.
inline std::uint64_t mix(std::uint64_t state, std::uint64_t next) {
  state = (state ^ next) + 0x9e3779b97f4a7c15u;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

inline std::uint64_t mix(std::uint64_t seed, std::int64_t epoch, std::uint64_t use) {
  return mix(mix(mix(0, seed), static_cast<std::uint64_t>(epoch)), use);
}

}  // namespace lipschitzlr::data
