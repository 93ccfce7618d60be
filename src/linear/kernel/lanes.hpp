// Dense rows in a second copy whose vectors run across rows: kLanes rows side by side, feature after feature. Then no
// sum crosses lanes, which is much of the work for short rows. For matrices so small that the copy costs nothing and
// both fit the second-level cache. Included by isa.hpp only.

constexpr std::size_t kMostTogether = 8;  // sums that do not wait for one another

template <class T>
constexpr std::size_t kRowVectors = kBlock / kLanes<T> < kMostTogether ? kBlock / kLanes<T> : kMostTogether;

// A block that starts with any vector of rows may be read whole; rows past the last are zero.
template <class T>
std::size_t lanes_size(std::size_t rows, std::size_t features) {
  return round_up(rows + kBlock, kBlock) * features;
}

template <class T>
void fill_lanes(std::size_t rows, std::size_t features, const T* from, T* to) {
  for (std::size_t row = 0; row < round_up(rows + kBlock, kBlock); ++row) {
    T* const lane = to + row / kLanes<T> * kLanes<T> * features + row % kLanes<T>;
    for (std::size_t j = 0; j < features; ++j) lane[j * kLanes<T>] = row < rows ? from[row * features + j] : T{0};
  }
}

template <class T>
inline const T* lanes_at(const Job<T>& job, std::size_t start) {
  return job.lanes + (job.first + start) * job.features;
}

template <class T>
inline void lane_scores(const T* x, std::size_t features, const T* weights, T* scores) {
  Vec<T> sum[kRowVectors<T>] = {};
  for (std::size_t j = 0; j < features; ++j) {
    const Vec<T> weight = all<T>(weights[j]);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kRowVectors<T>; ++v) {
      sum[v] += load<Vec<T>>(x + (v * features + j) * kLanes<T>) * weight;
    }
  }
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kRowVectors<T>; ++v) store(scores + v * kLanes<T>, sum[v]);
}

// Scores of a whole block for a group of outputs; weights as dense.hpp packs them.
template <class T, std::size_t Group>
__attribute__((noinline)) void lane_group_scores(const T* x, std::size_t features, const T* weights, T* scores) {
  constexpr std::size_t kVectors = 4;
  for (std::size_t row = 0; row < kBlock; row += kVectors * kLanes<T>) {
    Vec<T> sum[kVectors][Group] = {};
    for (std::size_t j = 0; j < features; ++j) {
      const T* const weight = weights + j / kLanes<T> * kLanes<T> * Group + j % kLanes<T>;
      const T* const from = x + row * features + j * kLanes<T>;
#pragma GCC unroll 8
      for (std::size_t c = 0; c < Group; ++c) {
        const Vec<T> w = all<T>(weight[c * kLanes<T>]);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) sum[v][c] += load<Vec<T>>(from + v * features * kLanes<T>) * w;
      }
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Group; ++c) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v) store(scores + c * kBlock + row + v * kLanes<T>, sum[v][c]);
    }
  }
}

// Adds to the gradient, one vector a feature, while the rows are still in the first-level cache.
template <class T>
inline void lane_gradient(const T* x, std::size_t features, const T* residuals, T* gradient) {
  Vec<T> residual[kRowVectors<T>];
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kRowVectors<T>; ++v) residual[v] = load<Vec<T>>(residuals + v * kLanes<T>);
  for (std::size_t j = 0; j < features; ++j) {
    Vec<T> even = load<Vec<T>>(gradient + j * kLanes<T>);
    Vec<T> odd = {};
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kRowVectors<T>; v += 2) {
      even += load<Vec<T>>(x + (v * features + j) * kLanes<T>) * residual[v];
      odd += load<Vec<T>>(x + ((v + 1) * features + j) * kLanes<T>) * residual[v + 1];
    }
    store(gradient + j * kLanes<T>, even + odd);
  }
}

// The scratch holds a block's scores, then the gradient, one vector a feature.
template <class T>
double evaluate_by_lanes(const Job<T>& job) {
  constexpr std::size_t kRows = kRowVectors<T> * kLanes<T>;
  T* const scores = job.scratch;
  T* const gradient = job.scratch + kBlock;
  __builtin_memset(gradient, 0, job.features * sizeof(Vec<T>));
  double loss = 0;
  for (std::size_t start = 0; start < job.count; start += kBlock) {
    const std::size_t count = job.count - start < kBlock ? job.count - start : kBlock;
    const T* const x = lanes_at(job, start);
    for (std::size_t row = 0; row < kBlock; row += kRows) {
      lane_scores(x + row * job.features, job.features, job.weights, scores + row);
    }
    loss += block_losses(job, start, count, scores);
    for (std::size_t row = count; row < kBlock; ++row) scores[row] = 0;  // rows of the next chunk are not ours
    for (std::size_t row = 0; row < kBlock; row += kRows) {
      lane_gradient(x + row * job.features, job.features, scores + row, gradient);
    }
  }
  for (std::size_t j = 0; j < job.features; ++j) {
    T sum = 0;
    for (std::size_t lane = 0; lane < kLanes<T>; ++lane) sum += gradient[j * kLanes<T> + lane];
    job.gradient[j] = sum;
  }
  return loss;
}
