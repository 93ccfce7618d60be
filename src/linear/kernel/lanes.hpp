// Dense rows with one output, in a second copy whose vectors run across rows: kLanes rows side by side, feature after
// feature. Then no sum crosses lanes until the very end, which is most of the work for short rows. Only for problems
// so small that the copy is nothing and one thread does it all. Included by isa.hpp only.

constexpr std::size_t kMostTogether = 8;  // sums that do not wait for one another

template <class T>
constexpr std::size_t kRowVectors = kBlock / kLanes<T> < kMostTogether ? kBlock / kLanes<T> : kMostTogether;

// Whole blocks of rows; those past the last are zero.
template <class T>
std::size_t lanes_size(std::size_t rows, std::size_t features) {
  return round_up(rows, kBlock) * features;
}

template <class T>
void fill_lanes(std::size_t rows, std::size_t features, const T* from, T* to) {
  for (std::size_t row = 0; row < round_up(rows, kBlock); ++row) {
    T* const lane = to + row / kLanes<T> * kLanes<T> * features + row % kLanes<T>;
    for (std::size_t j = 0; j < features; ++j) lane[j * kLanes<T>] = row < rows ? from[row * features + j] : T{0};
  }
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
    const T* const x = job.lanes + start * job.features;
    for (std::size_t row = 0; row < kBlock; row += kRows) {
      lane_scores(x + row * job.features, job.features, job.weights, scores + row);
    }
    loss += block_losses(job, start, count, scores);
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
