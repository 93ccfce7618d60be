// The kernels of block.hpp, compiled for the instruction set of the including source, which names its namespace:
// LIPSCHITZLR_ISA_SPACE. Nothing here may come from a shared template or inline function: the linker keeps one copy of
// those, and it could be one that the processor can't run.

#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/block/block.hpp"

namespace lipschitzlr::block::LIPSCHITZLR_ISA_SPACE {
namespace {

#include "base/vector.hpp"

using V = Vec<double>;
constexpr std::size_t kWide = kLanes<double>;

// Vectors x columns that leave registers for the factors: 24 sums of 32 registers, or 12 of 16.
#if defined(__AVX512F__)
constexpr std::size_t kVectors = 3, kColumns = 8;
#elif defined(__AVX2__)
constexpr std::size_t kVectors = 3, kColumns = 4;
#elif defined(__aarch64__)
constexpr std::size_t kVectors = 6, kColumns = 4;
#else
constexpr std::size_t kVectors = 6, kColumns = 2;
#endif
constexpr std::size_t kPanel = kVectors * kWide;
static_assert(kColumns % kWide == 0 && kPanel % kColumns == 0 && kVectors <= Kernels::kMostVectors);

template <std::size_t Vectors, bool Subtract>
void product(const double* a, const double* b, std::size_t count, double* c, std::size_t stride) {
  V sum[kColumns][Vectors] = {};
  for (std::size_t row = 0; row < count; ++row) {
    V left[Vectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Vectors; ++v) left[v] = load<V>(a + row * kPanel + v * kWide);
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kColumns; ++j) {
      const V right = all<double>(b[row * kPanel + j]);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < Vectors; ++v) sum[j][v] += left[v] * right;
    }
  }
#pragma GCC unroll 8
  for (std::size_t j = 0; j < kColumns; ++j) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Vectors; ++v) {
      double* const to = c + j * stride + v * kWide;
      store(to, Subtract ? load<V>(to) - sum[j][v] : load<V>(to) + sum[j][v]);
    }
  }
}

inline V load_wide(const double* from) { return load<V>(from); }
inline V load_wide(const float* from) {
  return __builtin_convertvector(load<typename VectorOf<float, kWide>::Type>(from), V);
}

template <class Scalar>
void pack(const Scalar* from, std::size_t stride, std::size_t rows, std::size_t width, const double* weights,
          double* to) {
  const std::size_t whole = width / kWide * kWide;
  for (std::size_t row = 0; row < rows; ++row, from += stride, to += kPanel) {
    const double weight = weights == nullptr ? 1 : weights[row];
    if (width == kPanel) {
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) store(to + v * kWide, load_wide(from + v * kWide) * weight);
      continue;
    }
    for (std::size_t j = 0; j < whole; j += kWide) store(to + j, load_wide(from + j) * weight);
    for (std::size_t j = whole; j < kPanel; j += kWide) store(to + j, V{});
    if (width >= kWide) {  // the last whole vector, some of it for the second time
      store(to + width - kWide, load_wide(from + width - kWide) * weight);
    } else {
      for (std::size_t j = 0; j < width; ++j) to[j] = static_cast<double>(from[j]) * weight;
    }
  }
}

bool factor(double* c, std::size_t stride, std::size_t rows) {
  // The block on the diagonal, column by column, then the rows below it, a vector at a time.
  double reciprocal[kColumns];
  for (std::size_t k = 0; k < kColumns; ++k) {
    double* const column = c + k * stride;
    for (std::size_t before = 0; before < k; ++before) {
      const double* const left = c + before * stride;
      for (std::size_t i = k; i < kColumns; ++i) column[i] -= left[i] * left[k];
    }
    if (!(column[k] > 0)) return false;
    column[k] = __builtin_sqrt(column[k]);
    reciprocal[k] = 1 / column[k];
    for (std::size_t i = k + 1; i < kColumns; ++i) column[i] *= reciprocal[k];
  }
  for (std::size_t i = kColumns; i < rows; i += kWide) {
    V x[kColumns];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kColumns; ++k) {
      x[k] = load<V>(c + k * stride + i);
#pragma GCC unroll 8
      for (std::size_t before = 0; before < k; ++before) x[k] -= x[before] * c[before * stride + k];
      x[k] *= reciprocal[k];
      store(c + k * stride + i, x[k]);
    }
  }
  return true;
}

void solve_lower(const double* l, std::size_t stride, std::size_t size, double* x) {
  for (std::size_t j = 0; j < size; j += kColumns) {
    const double* const column = l + j * stride;
    for (std::size_t k = 0; k < kColumns; ++k) {
      x[j + k] /= column[k * stride + j + k];
      for (std::size_t i = k + 1; i < kColumns; ++i) x[j + i] -= column[k * stride + j + i] * x[j + k];
    }
    for (std::size_t i = j + kColumns; i < size; i += kWide) {
      V rest = load<V>(x + i);
#pragma GCC unroll 8
      for (std::size_t k = 0; k < kColumns; ++k) rest -= load<V>(column + k * stride + i) * x[j + k];
      store(x + i, rest);
    }
  }
}

void solve_upper(const double* l, std::size_t stride, std::size_t size, double* x) {
  for (std::size_t j = size; j > 0;) {
    j -= kColumns;
    const double* const column = l + j * stride;
    V sum[kColumns] = {};
    for (std::size_t i = j + kColumns; i < size; i += kWide) {
      const V known = load<V>(x + i);
#pragma GCC unroll 8
      for (std::size_t k = 0; k < kColumns; ++k) sum[k] += load<V>(column + k * stride + i) * known;
    }
    for (std::size_t k = kColumns; k-- > 0;) {
      for (std::size_t lane = 0; lane < kWide; ++lane) x[j + k] -= sum[k][lane];
      for (std::size_t i = k + 1; i < kColumns; ++i) x[j + k] -= column[k * stride + j + i] * x[j + i];
      x[j + k] /= column[k * stride + j + k];
    }
  }
}

void solve_lanes(const double* l, std::size_t stride, std::size_t size, double* x) {
  for (std::size_t k = 0; k < size; ++k) {
    const double* const column = l + k * stride;
    const V known = load<V>(x + k * kWide) / column[k];
    store(x + k * kWide, known);
    for (std::size_t i = k + 1; i < size; ++i) store(x + i * kWide, load<V>(x + i * kWide) - known * column[i]);
  }
  for (std::size_t k = size; k-- > 0;) {
    const double* const column = l + k * stride;
    V sum[4] = {};  // an addition need not wait for the one before
    std::size_t i = k + 1;
    for (; i + 4 <= size; i += 4) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < 4; ++j) sum[j] += load<V>(x + (i + j) * kWide) * column[i + j];
    }
    for (; i < size; ++i) sum[0] += load<V>(x + i * kWide) * column[i];
    store(x + k * kWide, (load<V>(x + k * kWide) - ((sum[0] + sum[1]) + (sum[2] + sum[3]))) / column[k]);
  }
}

void solve_rows(const double* l, std::size_t stride, double* x) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double reciprocal = 1 / l[i * stride + i];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kPanel; v += kWide) {
      V rest = load<V>(x + i * kPanel + v);
      for (std::size_t k = 0; k < i; ++k) rest -= load<V>(x + k * kPanel + v) * l[k * stride + i];
      store(x + i * kPanel + v, rest * reciprocal);
    }
  }
}

template <class Scalar>
void scale(const Scalar* from, std::size_t columns, const std::ptrdiff_t* numbers, std::size_t first, std::size_t count,
           const double* offsets, const double* factors, const Scalar* last, Scalar* to) {
  using Narrow = typename VectorOf<Scalar, kWide>::Type;
  for (std::size_t i = 0; i < count; ++i) {
    const Scalar* const row = from + (numbers == nullptr ? first + i : static_cast<std::size_t>(numbers[i])) * columns;
    const auto vector = [&](std::size_t j) {
      const V scaled = (load_wide(row + j) - load<V>(offsets + j)) * load<V>(factors + j);
      store(to + j, __builtin_convertvector(scaled, Narrow));
    };
    for (std::size_t j = 0; j + kWide <= columns; j += kWide) vector(j);
    if (columns >= kWide) {
      if (columns % kWide != 0) vector(columns - kWide);  // some of it for the second time
    } else {
      for (std::size_t j = 0; j < columns; ++j) {
        to[j] = static_cast<Scalar>((static_cast<double>(row[j]) - offsets[j]) * factors[j]);
      }
    }
    to += columns;
    if (last != nullptr) *to++ = *last;
  }
}

// Null where a panel has fewer vectors.
template <std::size_t Vectors, bool Subtract>
constexpr Kernels::Product product_of() {
  if constexpr (Vectors <= kVectors) return product<Vectors, Subtract>;
  return nullptr;
}

template <bool Subtract>
constexpr void fill(Kernels::Product (&products)[Kernels::kMostVectors]) {
  products[0] = product_of<1, Subtract>();
  products[1] = product_of<2, Subtract>();
  products[2] = product_of<3, Subtract>();
  products[3] = product_of<4, Subtract>();
  products[4] = product_of<5, Subtract>();
  products[5] = product_of<6, Subtract>();
}

constexpr Kernels table() {
  Kernels kernels = {kWide,        kColumns,      kPanel, {},          {},          pack<float>, pack<double>,
                     scale<float>, scale<double>, factor, solve_lower, solve_upper, solve_lanes, solve_rows};
  fill<false>(kernels.add);
  fill<true>(kernels.subtract);
  return kernels;
}

}  // namespace

const Kernels kKernels = table();

}  // namespace lipschitzlr::block::LIPSCHITZLR_ISA_SPACE
