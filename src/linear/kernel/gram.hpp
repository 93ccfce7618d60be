// The innermost block of X'DX: c += a b' over count rows, a of Vectors vectors and b of kGramColumns numbers a row,
// both packed row after row. The sums of a block stay in registers. Every element is added up in the order of the rows,
// whatever the instruction set. Included by isa.hpp only.

// 24 sums of 32 registers, or 12 of 16.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr std::size_t kGramColumns = 8;
#else
constexpr std::size_t kGramColumns = 4;
#endif

template <std::size_t Vectors>
void gram_block(const double* a, const double* b, std::size_t count, double* c, std::size_t stride) {
  using V = Vec<double>;
  V sum[kGramColumns][Vectors] = {};
  for (std::size_t row = 0; row < count; ++row) {
    V left[Vectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) left[v] = load<V>(a + (row * Vectors + v) * kLanes<double>);
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kGramColumns; ++j) {
      const V right = all<double>(b[row * kGramColumns + j]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < Vectors; ++v) sum[j][v] += left[v] * right;
    }
  }
#pragma GCC unroll 8
  for (std::size_t j = 0; j < kGramColumns; ++j) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) {
      double* const to = c + j * stride + v * kLanes<double>;
      store(to, load<V>(to) + sum[j][v]);
    }
  }
}
