// Dense rows. Outputs are worked on in groups of at most kGroup, so that a tile of partial sums stays in registers:
// scores add up 4 rows x group over the features, gradients a strip of features x group over the rows of a block, which
// is still in cache. Gradients of more outputs have groups twice as large and narrow strips: every number of a row is
// then read from the second-level cache once instead of twice. Packed weights and gradients stand group by group, then
// vector by vector, then output by output. Included by isa.hpp only.

constexpr std::size_t kTileRows = 4;
constexpr std::size_t kBlockBytes = 224 * 1024;  // of rows, to stay in the second-level cache next to the gradient
constexpr std::size_t kLargeGroup = 2 * kGroup, kNarrowStrip = 2;

template <class T>
using RowPointers = const T* [kBlock];

// The outputs in groups of nearly equal size.
class Groups {
 public:
  Groups(std::size_t outputs, std::size_t most) : outputs_(outputs), count_((outputs + most - 1) / most) {}
  std::size_t count() const { return count_; }
  std::size_t begin(std::size_t group) const { return group * outputs_ / count_; }
  std::size_t size(std::size_t group) const { return begin(group + 1) - begin(group); }

 private:
  std::size_t outputs_, count_;
};

inline Groups score_groups(std::size_t outputs) { return {outputs, kGroup}; }
inline Groups gradient_groups(std::size_t outputs) { return {outputs, outputs > kGroup ? kLargeGroup : kGroup}; }

template <class T>
std::size_t dense_packed_size(std::size_t features, std::size_t outputs) {
  return round_up(features, kLanes<T>) * outputs;
}

template <class T>
std::size_t scratch_size(std::size_t, std::size_t outputs) {
  return outputs * kBlock;
}

// Calls move(place in n x k, place in the packed layout) for every weight.
template <class T, class Move>
inline void for_each_packed(std::size_t features, std::size_t outputs, const Groups& groups, Move move) {
  const std::size_t padded = round_up(features, kLanes<T>);
  for (std::size_t group = 0; group < groups.count(); ++group) {
    const std::size_t begin = groups.begin(group), size = groups.size(group);
    for (std::size_t j = 0; j < features; j += kLanes<T>) {
      const std::size_t lanes = features - j < kLanes<T> ? features - j : kLanes<T>;
      const std::size_t packed = begin * padded + j * size;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t c = 0; c < size; ++c) {
          move((j + lane) * outputs + begin + c, packed + c * kLanes<T> + lane);
        }
      }
    }
  }
}

template <class T>
void dense_pack(std::size_t features, std::size_t outputs, const T* weights, T* packed) {
  if (features % kLanes<T> != 0) {
    const std::size_t size = dense_packed_size<T>(features, outputs);
    for (std::size_t i = 0; i < size; ++i) packed[i] = 0;
  }
  for_each_packed<T>(features, outputs, score_groups(outputs),
                     [=](std::size_t plain, std::size_t place) { packed[place] = weights[plain]; });
}

template <class T>
void dense_unpack(std::size_t features, std::size_t outputs, const T* packed, T* gradient) {
  for_each_packed<T>(features, outputs, gradient_groups(outputs),
                     [=](std::size_t plain, std::size_t place) { gradient[plain] = packed[place]; });
}

template <class T, std::size_t Group>
__attribute__((always_inline)) inline void score_tile(const T* const* rows, std::size_t features, const T* weights,
                                                      T* scores) {
  Vec<T> partial[kTileRows][Group] = {};
  const auto add = [&](const Vec<T>(&x)[kTileRows], const T* w) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Group; ++c) {
      const Vec<T> weight = load<Vec<T>>(w + c * kLanes<T>);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kTileRows; ++r) partial[r][c] += x[r] * weight;
    }
  };
  std::size_t j = 0;
  for (; j + kLanes<T> <= features; j += kLanes<T>) {
    const Vec<T> x[kTileRows] = {load<Vec<T>>(rows[0] + j), load<Vec<T>>(rows[1] + j), load<Vec<T>>(rows[2] + j),
                                 load<Vec<T>>(rows[3] + j)};
    add(x, weights + j * Group);
  }
  if (j < features) {
    const std::size_t some = features - j;
    const Vec<T> x[kTileRows] = {load_some(rows[0] + j, some), load_some(rows[1] + j, some),
                                 load_some(rows[2] + j, some), load_some(rows[3] + j, some)};
    add(x, weights + j * Group);
  }
#pragma GCC unroll 8
  for (std::size_t c = 0; c < Group; ++c) {
    store(scores + c * kBlock, sums<T>(partial[0][c], partial[1][c], partial[2][c], partial[3][c]));
  }
}

template <class T, std::size_t Group>
__attribute__((noinline)) void group_scores(const T* const* rows, std::size_t count, std::size_t features,
                                            const T* weights, T* scores) {
  for (std::size_t i = 0; i < count; i += kTileRows) score_tile<T, Group>(rows + i, features, weights, scores + i);
}

constexpr std::size_t strip_of(std::size_t group) { return group > kGroup ? kNarrowStrip : kStrip; }

// Adds to Strip vectors of features x Group outputs; several rows at once when the tile alone would wait for its sums.
// Reads no memory but what the scores have just read: time to fetch the next block, ahead bytes further on.
template <class T, std::size_t Group, std::size_t Strip, bool Partial>
void gradient_strip(const T* const* rows, std::size_t count, std::size_t offset, std::size_t some, std::size_t ahead,
                    const T* residuals, T* gradient) {
  constexpr std::size_t kSplit = kTile / (Group * Strip) >= 4 ? 4 : kTile / (Group * Strip) >= 2 ? 2 : 1;
  Vec<T> sum[kSplit][Group][Strip] = {};
  const auto add = [&](std::size_t row, Vec<T>(&to)[Group][Strip]) __attribute__((always_inline)) {
    Vec<T> x[Strip];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Strip; ++v) {
      const T* from = rows[row] + offset + v * kLanes<T>;
      x[v] = Partial && v + 1 == Strip ? load_some(from, some) : load<Vec<T>>(from);
      if constexpr (Group > kGroup || (Strip == kStrip && !Partial)) {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + ahead), 0, 2);
      }
    }
#pragma GCC unroll 16
    for (std::size_t c = 0; c < Group; ++c) {
      const Vec<T> residual = all<T>(residuals[c * kBlock + row]);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < Strip; ++v) to[c][v] += residual * x[v];
    }
  };
  std::size_t row = 0;
  for (; row + kSplit <= count; row += kSplit) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < kSplit; ++u) add(row + u, sum[u]);
  }
  for (; row < count; ++row) add(row, sum[0]);
#pragma GCC unroll 8
  for (std::size_t v = 0; v < Strip; ++v) {
#pragma GCC unroll 16
    for (std::size_t c = 0; c < Group; ++c) {
      Vec<T> total = sum[0][c][v];
#pragma GCC unroll 4
      for (std::size_t u = 1; u < kSplit; ++u) total += sum[u][c][v];
      T* const to = gradient + (v * Group + c) * kLanes<T>;
      store(to, load<Vec<T>>(to) + total);
    }
  }
}

template <class T, std::size_t Group, std::size_t Strip>
inline void last_strip(const T* const* rows, std::size_t count, std::size_t offset, std::size_t some, std::size_t ahead,
                       const T* residuals, T* gradient) {
  if (some == 0) {
    gradient_strip<T, Group, Strip, false>(rows, count, offset, some, ahead, residuals, gradient);
  } else {
    gradient_strip<T, Group, Strip, true>(rows, count, offset, some, ahead, residuals, gradient);
  }
}

template <class T, std::size_t Group>
__attribute__((noinline)) void group_gradient(const T* const* rows, std::size_t count, std::size_t features,
                                              std::size_t ahead, const T* residuals, T* gradient) {
  constexpr std::size_t kWhole = strip_of(Group);
  const std::size_t some = features % kLanes<T>;
  std::size_t left = (features + kLanes<T> - 1) / kLanes<T>;
  std::size_t offset = 0;
  for (; left > kWhole; left -= kWhole, offset += kWhole * kLanes<T>) {
    gradient_strip<T, Group, kWhole, false>(rows, count, offset, 0, ahead, residuals, gradient + offset * Group);
  }
  gradient += offset * Group;
  if (left == 1) last_strip<T, Group, 1>(rows, count, offset, some, ahead, residuals, gradient);
  if (left == 2) last_strip<T, Group, 2>(rows, count, offset, some, ahead, residuals, gradient);
  if constexpr (kWhole >= 3) {
    if (left == 3) last_strip<T, Group, 3>(rows, count, offset, some, ahead, residuals, gradient);
  }
  if constexpr (kWhole >= 4) {
    if (left == 4) last_strip<T, Group, 4>(rows, count, offset, some, ahead, residuals, gradient);
  }
}

// Calls act with the group's size as a compile-time constant.
template <std::size_t Size>
struct Known {
  static constexpr std::size_t value = Size;
};

template <std::size_t Size, std::size_t Most, class Act>
inline void with_size(std::size_t size, std::size_t begin, const Act& act) {
  if (size == Size) return act(Known<Size>{}, begin);
  if constexpr (Size < Most) with_size<Size + 1, Most>(size, begin, act);
}

// Most: the size of the largest group that there may be.
template <std::size_t Most, class Act>
inline void for_each_group(const Groups& groups, const Act& act) {
  for (std::size_t group = 0; group < groups.count(); ++group) {
    with_size<1, Most>(groups.size(group), groups.begin(group), act);
  }
}

template <class T>
inline std::size_t dense_block_rows(std::size_t features) {
  const std::size_t fitting = kBlockBytes / (features * sizeof(T));
  return fitting >= kBlock ? kBlock : fitting >= kBlock / 2 ? kBlock / 2 : kBlock / 4;
}

// The rows of a block, the last one repeated to fill a tile, and their scores.
template <class T>
__attribute__((noinline)) void dense_block_scores(const Job<T>& job, std::size_t start, std::size_t count,
                                                  RowPointers<T>& rows) {
  if (job.make != nullptr) {
    const std::ptrdiff_t* const numbers = job.rows == nullptr ? nullptr : job.rows + start;
    job.make(job.source, numbers, job.first + start, count, job.made);
  }
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = job.make != nullptr ? job.made + i * job.features
                                  : job.dense + row_at(job, start + i) * static_cast<std::ptrdiff_t>(job.features);
  }
  for (std::size_t i = count; i < round_up(count, kTileRows); ++i) rows[i] = rows[count - 1];
  const std::size_t padded = round_up(job.features, kLanes<T>);
  for_each_group<kGroup>(score_groups(job.outputs), [&](auto size, std::size_t begin) {
    const T* const weights = job.weights + begin * padded;
    T* const scores = job.scratch + begin * kBlock;
    if (job.lanes != nullptr) {
      lane_group_scores<T, decltype(size)::value>(lanes_at(job, start), job.features, weights, scores);
    } else {
      group_scores<T, decltype(size)::value>(rows, count, job.features, weights, scores);
    }
  });
}

template <class T>
double dense_evaluate(const Job<T>& job) {
  if (job.lanes != nullptr && job.outputs == 1) return evaluate_by_lanes(job);
  const std::size_t padded = round_up(job.features, kLanes<T>);
  const std::size_t block = dense_block_rows<T>(job.features);
  for (std::size_t i = 0; i < padded * job.outputs; i += kLanes<T>) store(job.gradient + i, Vec<T>{});
  double loss = 0;
  RowPointers<T> rows;
  for (std::size_t start = 0; start < job.count; start += block) {
    const std::size_t count = job.count - start < block ? job.count - start : block;
    dense_block_scores(job, start, count, rows);
    loss += block_losses(job, start, count, job.scratch);
    for_each_group<kLargeGroup>(gradient_groups(job.outputs), [&](auto size, std::size_t begin) {
      // Once is enough, and the rows of a mini-batch do not follow one another.
      const bool follow = job.dense != nullptr && job.rows == nullptr;
      const std::size_t ahead = begin == 0 && follow ? block * job.features * sizeof(T) : 0;
      group_gradient<T, decltype(size)::value>(rows, count, job.features, ahead, job.scratch + begin * kBlock,
                                               job.gradient + begin * padded);
    });
  }
  return loss;
}

template <class T>
inline void write_scores(const Job<T>& job, std::size_t start, std::size_t count, T* outcome) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < job.outputs; ++c) outcome[(start + i) * job.outputs + c] = job.scratch[c * kBlock + i];
  }
}

template <class T>
void dense_scores(const Job<T>& job, T* outcome) {
  const std::size_t block = dense_block_rows<T>(job.features);
  RowPointers<T> rows;
  for (std::size_t start = 0; start < job.count; start += block) {
    const std::size_t count = job.count - start < block ? job.count - start : block;
    dense_block_scores(job, start, count, rows);
    write_scores(job, start, count, outcome);
  }
}
