// A vector of the instruction set this source is compiled for, with what the kernels need of it: loads that never touch
// memory past the end, sums across lanes, exp and log1p. Included by sources that are compiled once per instruction
// set, inside that set's own namespace.
//   exp(x)   = 2^n exp(r),  n = round(x / ln 2),  r = x - n ln 2,  exp(r) by its Taylor series, |r| <= ln(2)/2
//   log1p(x) = e ln 2 + 2 artanh(s),  1 + x = 2^e (1 + f),  s = f / (2 + f),  |s| <= 3 - 2 sqrt 2, again by Taylor

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif

template <class T, std::size_t Lanes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(Lanes * sizeof(T))));
};

template <class T>
constexpr std::size_t kLanes = kVectorBytes / sizeof(T);

template <class T>
using Vec = typename VectorOf<T, kLanes<T>>::Type;

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using Type = std::int32_t;
  static constexpr int kMantissa = 23;
  static constexpr Type kOne = 0x3f800000;
  static constexpr Type kRootHalf = 0x3f3504f3;
  static constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  static constexpr float kLowest = -87.33654f;  // exp of anything less is taken as 0
  static constexpr float kLog2High = 0.693359375f;
  static constexpr float kLog2Low = -2.12194440054690583e-4f;
  static constexpr int kExpTerms = 7;
  static constexpr int kArtanhTerms = 5;
};
template <>
struct BitsOf<double> {
  using Type = std::int64_t;
  static constexpr int kMantissa = 52;
  static constexpr Type kOne = 0x3ff0000000000000;
  static constexpr Type kRootHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double kLowest = -708.39641853226408;
  static constexpr double kLog2High = 0x1.62e42fefa38p-1;  // 41 bits: times any exponent it is exact
  static constexpr double kLog2Low = 0x1.ef35793c7673p-45;
  static constexpr int kExpTerms = 13;
  static constexpr int kArtanhTerms = 11;
};

template <class V, class T>
inline V load(const T* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

template <class V, class T>
inline void store(T* to, V value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

// The first count numbers, zero in the other lanes.
template <class T>
inline Vec<T> load_some(const T* from, std::size_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return (Vec<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
  } else {
    return (Vec<T>)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from);
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (Vec<T>)_mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane));
  } else {
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i some = _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(count)), lane);
    return (Vec<T>)_mm256_maskload_pd(from, some);
  }
#else
  Vec<T> value = {};
  for (std::size_t i = 0; i < count; ++i) value[i] = from[i];
  return value;
#endif
}

template <class T>
inline Vec<T> all(T value) {
  return value - Vec<T>{};  // not a sum: that would turn -0 into 0, and cost an addition
}

template <class V>
inline V larger(V a, V b) {
  return a < b ? b : a;
}

// The sums of four vectors, side by side.
template <class T>
inline typename VectorOf<T, 4>::Type sums(Vec<T> a, Vec<T> b, Vec<T> c, Vec<T> d) {
  typename VectorOf<T, 4>::Type total;
  if constexpr (kLanes<T> == 2) {
    const Vec<T> ab = __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
    const Vec<T> cd = __builtin_shufflevector(c, d, 0, 2) + __builtin_shufflevector(c, d, 1, 3);
    total = __builtin_shufflevector(ab, cd, 0, 1, 2, 3);
  } else if constexpr (kLanes<T> == 4) {
    const Vec<T> ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Vec<T> cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
    total = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  } else if constexpr (kLanes<T> == 8) {
    const Vec<T> ab = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                      __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    const Vec<T> cd = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14) +
                      __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
    const Vec<T> abcd = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) +
                        __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    total = __builtin_shufflevector(abcd, abcd, 0, 1, 2, 3) + __builtin_shufflevector(abcd, abcd, 4, 5, 6, 7);
  } else {
    const Vec<T> ab = __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30) +
                      __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
    const Vec<T> cd = __builtin_shufflevector(c, d, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30) +
                      __builtin_shufflevector(c, d, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
    const Vec<T> abcd = __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
                        __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    const auto half = __builtin_shufflevector(abcd, abcd, 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(abcd, abcd, 8, 9, 10, 11, 12, 13, 14, 15);
    total = __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
  }
  return total;
}

struct Factorials {
  double reciprocal[14] = {1};
  constexpr Factorials() {
    for (int i = 1; i < 14; ++i) reciprocal[i] = reciprocal[i - 1] / i;
  }
};
constexpr Factorials kFactorials;

// For x <= 0; not a number stays so.
template <class T>
inline Vec<T> exp_vector(Vec<T> x) {
  using Bits = BitsOf<T>;
  typedef typename VectorOf<typename Bits::Type, kLanes<T>>::Type Ints;
  const Vec<T> inside = x < Bits::kLowest ? all<T>(Bits::kLowest) : x;
  const Vec<T> shifted = inside * static_cast<T>(1.4426950408889634) + Bits::kMagic;
  const Vec<T> n = shifted - Bits::kMagic;
  const Vec<T> r = (inside - n * Bits::kLog2High) - n * Bits::kLog2Low;
  // Even and odd powers apart: half the length of the chain of operations that wait for one another. The first two
  // terms come last, so that only they decide the rounding.
  const Vec<T> square = r * r;
  Vec<T> odd = all<T>(static_cast<T>(kFactorials.reciprocal[Bits::kExpTerms]));
  Vec<T> even = all<T>(static_cast<T>(kFactorials.reciprocal[Bits::kExpTerms - 1]));
#pragma GCC unroll 8
  for (int i = Bits::kExpTerms - 2; i >= 3; i -= 2) {
    odd = odd * square + static_cast<T>(kFactorials.reciprocal[i]);
    even = even * square + static_cast<T>(kFactorials.reciprocal[i - 1]);
  }
  const Vec<T> series = ((odd * r + even) * square + r) + T{1};
  const Vec<T> power = (Vec<T>)((Ints)series + ((Ints)shifted << Bits::kMantissa));
  return x < Bits::kLowest ? Vec<T>{} : power;
}

// For x >= 0 and finite; not a number stays so.
template <class T>
inline Vec<T> log1p_vector(Vec<T> x) {
  using Bits = BitsOf<T>;
  typedef typename VectorOf<typename Bits::Type, kLanes<T>>::Type Ints;
  const Vec<T> u = x + T{1};
  const Vec<T> lost = x - (u - T{1});
  const Ints exponent = ((Ints)u - Bits::kRootHalf) >> Bits::kMantissa;
  const Vec<T> scale = (Vec<T>)(Bits::kOne - (exponent << Bits::kMantissa));
  const Vec<T> f = (u * scale - T{1}) + lost * scale;
  // Whole numbers near the magic one have their value in the low bits: a conversion that every instruction set has.
  const Vec<T> e = (Vec<T>)((Ints)all<T>(Bits::kMagic) + exponent) - Bits::kMagic;
  const Vec<T> s = f / (f + T{2});
  const Vec<T> square = s * s;
  Vec<T> series = all<T>(static_cast<T>(2.0 / (2 * Bits::kArtanhTerms - 1)));
#pragma GCC unroll 16
  for (int i = Bits::kArtanhTerms - 2; i >= 1; --i) series = series * square + static_cast<T>(2.0 / (2 * i + 1));
  // 2s = f - s f: keeping f apart loses no digit of a small x.
  return e * Bits::kLog2High + (f - (s * (f - square * series) - e * Bits::kLog2Low));
}
