// Compressed sparse rows. One output: plain loops over a row's stored values. Several: the lanes of a vector are
// outputs, so weights and gradients stand feature by feature, padded to whole vectors of at most a few idle lanes.
// Included by isa.hpp only.

template <class T>
inline std::size_t output_lanes(std::size_t outputs) {
  std::size_t lanes = 1;
  while (lanes < outputs && lanes < kLanes<T>) lanes *= 2;
  return lanes;
}

template <class T>
inline std::size_t padded_outputs(std::size_t outputs) {
  return round_up(outputs, output_lanes<T>(outputs));
}

template <class T>
std::size_t sparse_packed_size(std::size_t features, std::size_t outputs) {
  return features * padded_outputs<T>(outputs);
}

template <class T>
void sparse_pack(std::size_t features, std::size_t outputs, const T* weights, T* packed) {
  const std::size_t padded = padded_outputs<T>(outputs);
  for (std::size_t j = 0; j < features; ++j) {
    for (std::size_t c = 0; c < padded; ++c) packed[j * padded + c] = c < outputs ? weights[j * outputs + c] : T{0};
  }
}

template <class T>
void sparse_unpack(std::size_t features, std::size_t outputs, const T* packed, T* gradient) {
  const std::size_t padded = padded_outputs<T>(outputs);
  for (std::size_t j = 0; j < features; ++j) {
    for (std::size_t c = 0; c < outputs; ++c) gradient[j * outputs + c] = packed[j * padded + c];
  }
}

// With Ones every stored value is 1, as in data made of yes-no columns: the values need not be read at all.
template <class T, bool Ones>
inline T sparse_score(const Job<T>& job, std::ptrdiff_t row) {
  const T* const values = job.values;
  const T* const weights = job.weights;
  const std::int32_t* const columns = job.columns;
  const std::size_t end = static_cast<std::size_t>(job.starts[row + 1]);
  std::size_t cell = static_cast<std::size_t>(job.starts[row]);
  T sum[4] = {};
  for (; cell + 4 <= end; cell += 4) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < 4; ++u) {
      sum[u] += Ones ? weights[columns[cell + u]] : values[cell + u] * weights[columns[cell + u]];
    }
  }
  for (; cell < end; ++cell) sum[0] += Ones ? weights[columns[cell]] : values[cell] * weights[columns[cell]];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// A row has every column once at most, so four sums may be read before any of them is written: they never wait.
template <class T, bool Ones>
inline void add_sparse_row(const Job<T>& job, std::ptrdiff_t row, T residual) {
  const T* const values = job.values;
  T* const gradient = job.gradient;
  const std::int32_t* const columns = job.columns;
  const std::size_t end = static_cast<std::size_t>(job.starts[row + 1]);
  std::size_t cell = static_cast<std::size_t>(job.starts[row]);
  for (; cell + 4 <= end; cell += 4) {
    T sum[4];
#pragma GCC unroll 4
    for (std::size_t u = 0; u < 4; ++u) {
      sum[u] = gradient[columns[cell + u]] + (Ones ? residual : residual * values[cell + u]);
    }
#pragma GCC unroll 4
    for (std::size_t u = 0; u < 4; ++u) gradient[columns[cell + u]] = sum[u];
  }
  for (; cell < end; ++cell) gradient[columns[cell]] += Ones ? residual : residual * values[cell];
}

template <class T, bool Gradient, bool Ones>
void sparse_block_of_one(const Job<T>& job, std::size_t start, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::ptrdiff_t row = row_at(job, start + i);
    if constexpr (Gradient) add_sparse_row<T, Ones>(job, row, job.scratch[i]);
    if constexpr (!Gradient) job.scratch[i] = sparse_score<T, Ones>(job, row);
  }
}

// Scores of one row for Count vectors of outputs from begin on.
template <class T, std::size_t Lanes, std::size_t Count>
inline void sparse_score_tile(const Job<T>& job, std::ptrdiff_t row, std::size_t padded, std::size_t begin, T* scores) {
  using V = typename VectorOf<T, Lanes>::Type;
  V sum[Count] = {};
  for (std::int32_t cell = job.starts[row]; cell < job.starts[row + 1]; ++cell) {
    const T* const weights = job.weights + static_cast<std::size_t>(job.columns[cell]) * padded + begin;
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Count; ++v) sum[v] += job.values[cell] * load<V>(weights + v * Lanes);
  }
  T flat[Count * Lanes];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < Count; ++v) store(flat + v * Lanes, sum[v]);
  for (std::size_t c = begin; c < job.outputs && c < begin + Count * Lanes; ++c) scores[c * kBlock] = flat[c - begin];
}

template <class T, std::size_t Lanes, std::size_t Count>
inline void sparse_gradient_tile(const Job<T>& job, std::ptrdiff_t row, std::size_t padded, std::size_t begin,
                                 const T* residuals) {
  using V = typename VectorOf<T, Lanes>::Type;
  T flat[Count * Lanes] = {};
  for (std::size_t c = begin; c < job.outputs && c < begin + Count * Lanes; ++c) {
    flat[c - begin] = residuals[c * kBlock];
  }
  V residual[Count];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < Count; ++v) residual[v] = load<V>(flat + v * Lanes);
  for (std::int32_t cell = job.starts[row]; cell < job.starts[row + 1]; ++cell) {
    T* const to = job.gradient + static_cast<std::size_t>(job.columns[cell]) * padded + begin;
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Count; ++v) {
      store(to + v * Lanes, load<V>(to + v * Lanes) + job.values[cell] * residual[v]);
    }
  }
}

// Scores or gradient of a block for rows of Lanes-wide vectors, two vectors at a time.
template <class T, std::size_t Lanes, bool Gradient>
void sparse_block_of(const Job<T>& job, std::size_t start, std::size_t count, std::size_t padded) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::ptrdiff_t row = row_at(job, start + i);
    std::size_t begin = 0;
    for (; begin + 2 * Lanes <= padded; begin += 2 * Lanes) {
      if constexpr (Gradient) sparse_gradient_tile<T, Lanes, 2>(job, row, padded, begin, job.scratch + i);
      if constexpr (!Gradient) sparse_score_tile<T, Lanes, 2>(job, row, padded, begin, job.scratch + i);
    }
    if (begin < padded) {
      if constexpr (Gradient) sparse_gradient_tile<T, Lanes, 1>(job, row, padded, begin, job.scratch + i);
      if constexpr (!Gradient) sparse_score_tile<T, Lanes, 1>(job, row, padded, begin, job.scratch + i);
    }
  }
}

template <class T, bool Gradient>
void sparse_block(const Job<T>& job, std::size_t start, std::size_t count) {
  const std::size_t padded = padded_outputs<T>(job.outputs);
  const std::size_t lanes = output_lanes<T>(job.outputs);
  if (lanes == 1) {
    job.ones ? sparse_block_of_one<T, Gradient, true>(job, start, count)
             : sparse_block_of_one<T, Gradient, false>(job, start, count);
  }
  if (lanes == 2) sparse_block_of<T, 2, Gradient>(job, start, count, padded);
  if constexpr (kLanes<T> >= 4) {
    if (lanes == 4) sparse_block_of<T, 4, Gradient>(job, start, count, padded);
  }
  if constexpr (kLanes<T> >= 8) {
    if (lanes == 8) sparse_block_of<T, 8, Gradient>(job, start, count, padded);
  }
  if constexpr (kLanes<T> >= 16) {
    if (lanes == 16) sparse_block_of<T, 16, Gradient>(job, start, count, padded);
  }
}

// One column's residuals, in four sums that do not wait for one another.
template <class T>
inline T column_sum(const T* residuals, const std::uint16_t* member, const std::uint16_t* end) {
  T sum[4] = {};
  for (; member + 4 <= end; member += 4) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < 4; ++u) sum[u] += residuals[member[u]];
  }
  for (; member < end; ++member) sum[0] += residuals[*member];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// A chunk of ones with one output: scores by rows, the gradient by columns once all residuals of the chunk are known.
template <class T>
double evaluate_by_columns(const Job<T>& job) {
  double loss = 0;
  Job<T> block = job;
  for (std::size_t start = 0; start < job.count; start += kBlock) {
    const std::size_t count = job.count - start < kBlock ? job.count - start : kBlock;
    block.scratch = job.scratch + start;
    sparse_block_of_one<T, false, true>(block, start, count);
    loss += block_losses(block, start, count, block.scratch);
  }
  for (std::size_t j = 0; j < job.features; ++j) {
    job.gradient[j] =
        column_sum(job.scratch, job.members + job.member_starts[j], job.members + job.member_starts[j + 1]);
  }
  return loss;
}

template <class T>
double sparse_evaluate(const Job<T>& job) {
  if (job.members != nullptr) return evaluate_by_columns(job);
  __builtin_memset(job.gradient, 0, sparse_packed_size<T>(job.features, job.outputs) * sizeof(T));
  double loss = 0;
  for (std::size_t start = 0; start < job.count; start += kBlock) {
    const std::size_t count = job.count - start < kBlock ? job.count - start : kBlock;
    sparse_block<T, false>(job, start, count);
    loss += block_losses(job, start, count, job.scratch);
    sparse_block<T, true>(job, start, count);
  }
  return loss;
}

template <class T>
void sparse_scores(const Job<T>& job, T* outcome) {
  for (std::size_t start = 0; start < job.count; start += kBlock) {
    const std::size_t count = job.count - start < kBlock ? job.count - start : kBlock;
    sparse_block<T, false>(job, start, count);
    write_scores(job, start, count, outcome);
  }
}
