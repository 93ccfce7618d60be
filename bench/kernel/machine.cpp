#include "machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace lipschitzlr::bench {
namespace {

typedef double Wide __attribute__((vector_size(64)));
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Eight independent sums: the loads never wait for an addition.
double read_part(const char* from, std::size_t bytes) {
  Wide sums[8] = {};
  for (std::size_t at = 0; at + sizeof(sums) <= bytes; at += sizeof(sums)) {
    for (std::size_t i = 0; i < 8; ++i) {
      Wide value;
      std::memcpy(&value, from + at + i * sizeof(Wide), sizeof(Wide));
      sums[i] += value;
    }
  }
  double total = 0;
  for (const Wide& sum : sums) total += sum[0] + sum[7];
  return total;
}

}  // namespace

double read_bandwidth(const void* data, std::size_t bytes, ThreadPool& pool) {
  constexpr std::size_t kParts = 64;
  std::vector<double> sums(kParts);
  double best = 0;
  for (int pass = 0; pass < 7; ++pass) {
    const auto start = Clock::now();
    pool.run(kParts, [&](std::size_t part) {
      sums[part] = read_part(static_cast<const char*>(data) + part * (bytes / kParts), bytes / kParts);
    });
    best = std::max(best, static_cast<double>(bytes) / seconds_since(start));
  }
  // The sums are printed nowhere, but the compiler must believe that they could be.
  volatile double used = sums[0];
  (void)used;
  return best;
}

template <class Scalar>
double peak_flops(ThreadPool& pool) {
  typedef Scalar Numbers __attribute__((vector_size(64)));
  constexpr std::size_t kChains = 12, kRounds = 2000000, kParts = 64;
  std::vector<double> sums(kParts);
  double best = 0;
  for (int pass = 0; pass < 3; ++pass) {
    const auto start = Clock::now();
    pool.run(kParts, [&](std::size_t part) {
      // Chains that differ: equal ones would be worked out only once.
      Numbers chain[kChains];
      for (std::size_t i = 0; i < kChains; ++i) chain[i] = Numbers{} + static_cast<Scalar>(i);
      const Numbers factor = Numbers{} + static_cast<Scalar>(0.5 + static_cast<double>(part) / 1000);
      for (std::size_t round = 0; round < kRounds / kParts; ++round) {
#pragma GCC unroll 12
        for (std::size_t i = 0; i < kChains; ++i) chain[i] = chain[i] * factor + factor;
      }
      for (const Numbers& one : chain) sums[part] += static_cast<double>(one[0]);
    });
    const double operations = 2.0 * kChains * (kRounds / kParts) * kParts * (64 / sizeof(Scalar));
    best = std::max(best, operations / seconds_since(start));
  }
  volatile double used = sums[0];
  (void)used;
  return best;
}

template double peak_flops<float>(ThreadPool& pool);
template double peak_flops<double>(ThreadPool& pool);

}  // namespace lipschitzlr::bench
