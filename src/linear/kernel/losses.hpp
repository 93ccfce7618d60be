// From scores to residuals, one block of rows at a time. Scores stand output by output, kBlock numbers each, so that
// the lanes of a vector are rows: no sums across lanes, and a row past the end costs nothing. Included by isa.hpp only.

constexpr std::size_t kBlock = kMadeRows;  // the most rows of a block; a block's stride is always this

constexpr std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

template <class T>
inline std::ptrdiff_t row_at(const Job<T>& job, std::size_t i) {
  return job.rows ? job.rows[i] : static_cast<std::ptrdiff_t>(job.first + i);
}

// The entries of a block's rows.
template <class T, class Entry>
inline void gather(const Job<T>& job, std::size_t start, std::size_t count, const Entry* from, Entry* to) {
  if (job.rows == nullptr) {
    __builtin_memcpy(to, from + job.first + start, count * sizeof(Entry));
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[job.rows[start + i]];
  }
}

// Sums in double over eight lanes; the order depends on the number of rows only.
class Sum {
 public:
  template <class T>
  void add(const T* terms, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 8) lanes_ += wide(terms + i);
  }
  template <class T>
  void add_squares(const T* terms, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 8) {
      const Eight eight = wide(terms + i);
      lanes_ += eight * eight;
    }
  }
  double total() const {
    double sum = 0;
    for (int i = 0; i < 8; ++i) sum += lanes_[i];
    return sum;
  }

 private:
  typedef double Eight __attribute__((vector_size(64)));
  template <class T>
  static Eight wide(const T* terms) {
    return __builtin_convertvector(load<typename VectorOf<T, 8>::Type>(terms), Eight);
  }
  Eight lanes_ = {};
};

// The losses of a block's rows, times the rows' weights where there are any.
template <class T>
inline double total_of(T* terms, const T* row_weights, std::size_t count) {
  if (row_weights != nullptr) {
    for (std::size_t i = 0; i < count; ++i) terms[i] *= row_weights[i];
  }
  for (std::size_t i = count; i < round_up(count, 8); ++i) terms[i] = 0;
  Sum sum;
  sum.add(terms, count);
  return sum.total();
}

template <class T>
inline double squared_block(const T* targets, const T* row_weights, std::size_t count, T scale, T* scores) {
  for (std::size_t i = 0; i < count; i += kLanes<T>) {
    store(scores + i, load<Vec<T>>(scores + i) - load<Vec<T>>(targets + i));
  }
  for (std::size_t i = count; i < round_up(count, 8); ++i) scores[i] = 0;
  double total = 0;
  if (row_weights == nullptr) {
    Sum sum;
    sum.add_squares(scores, count);
    total = sum.total();
  } else {
    T terms[kBlock];
    for (std::size_t i = 0; i < count; ++i) terms[i] = scores[i] * scores[i];
    total = total_of(terms, row_weights, count);
  }
  for (std::size_t i = 0; i < count; i += kLanes<T>) store(scores + i, load<Vec<T>>(scores + i) * scale);
  return total / 2;
}

// loss = max(z, 0) - y z + log1p(exp(-|z|)), residual = sigmoid(z) - y; nothing here overflows, and a residual near 0
// keeps all its digits.
template <class T>
inline double logistic_block(const T* targets, const T* row_weights, std::size_t count, T scale, T* scores) {
  T terms[kBlock];
  for (std::size_t i = 0; i < count; i += kLanes<T>) {
    const Vec<T> z = load<Vec<T>>(scores + i);
    const Vec<T> y = load<Vec<T>>(targets + i);
    const Vec<T> positive = z > T{0} ? z : Vec<T>{};
    const Vec<T> small = exp_vector<T>(z > T{0} ? -z : z);
    const Vec<T> likely = T{1} / (small + T{1});
    store(terms + i, (positive - y * z) + log1p_vector<T>(small));
    const Vec<T> unlikely = small * likely;
    const Vec<T> residual = y > T{0} ? -(z > T{0} ? unlikely : likely) : (z > T{0} ? likely : unlikely);
    store(scores + i, residual * scale);
  }
  return total_of(terms, row_weights, count);
}

// Keras's clipped cross-entropy: p_y is taken to lie within [e, 1 - e], e = 1e-7, and beyond has no gradient. scores
// hold p times scale.
template <class T>
inline void clip_rows(const std::int32_t* labels, std::size_t outputs, std::size_t count, T scale, T* scores,
                      T* terms) {
  constexpr T kLeast = T{1e-7}, kMost = T{1} - kLeast;
  constexpr T kLossOfLeast = T{16.118095650958319}, kLossOfMost = T{1.0000000500000033e-7};
  for (std::size_t i = 0; i < count; ++i) {
    const T own = scores[static_cast<std::size_t>(labels[i]) * kBlock + i];
    const bool lost = own < kLeast * scale;
    if (!lost && !(own > kMost * scale)) continue;
    terms[i] = lost ? kLossOfLeast : kLossOfMost;
    for (std::size_t c = 0; c < outputs; ++c) scores[c * kBlock + i] = 0;
    scores[static_cast<std::size_t>(labels[i]) * kBlock + i] = scale;  // from which the target is taken next
  }
}

// loss = (max z - z_y) + log1p(sum of exp(z_c - max z) over all classes but the largest), residual = softmax(z) - e_y.
template <class T>
inline double softmax_block(const std::int32_t* labels, const T* row_weights, std::size_t outputs, std::size_t count,
                            T scale, bool clipped, T* scores) {
  T own[kBlock], terms[kBlock];
  for (std::size_t i = 0; i < count; ++i) own[i] = scores[static_cast<std::size_t>(labels[i]) * kBlock + i];
  for (std::size_t i = count; i < round_up(count, kLanes<T>); ++i) own[i] = 0;
  for (std::size_t i = 0; i < count; i += kLanes<T>) {
    Vec<T> largest = load<Vec<T>>(scores + i);
    for (std::size_t c = 1; c < outputs; ++c) largest = larger(largest, load<Vec<T>>(scores + c * kBlock + i));
    Vec<T> rest = {};
    Vec<T> spare = all<T>(1);  // the largest class's own term, taken out once even when several are the largest
    for (std::size_t c = 0; c < outputs; ++c) {
      const Vec<T> z = load<Vec<T>>(scores + c * kBlock + i);
      const Vec<T> e = exp_vector<T>(z - largest);
      store(scores + c * kBlock + i, e);
      const Vec<T> taken = z == largest ? spare : Vec<T>{};
      spare -= taken;
      rest += e - taken;
    }
    const Vec<T> share = T{1} / (rest + T{1}) * scale;
    for (std::size_t c = 0; c < outputs; ++c) {
      store(scores + c * kBlock + i, load<Vec<T>>(scores + c * kBlock + i) * share);
    }
    store(terms + i, (largest - load<Vec<T>>(own + i)) + log1p_vector<T>(rest));
  }
  if (clipped) clip_rows(labels, outputs, count, scale, scores, terms);
  for (std::size_t i = 0; i < count; ++i) scores[static_cast<std::size_t>(labels[i]) * kBlock + i] -= scale;
  return total_of(terms, row_weights, count);
}

// Turns the scores of a block's rows into residuals times 1/m; returns the sum of their losses.
template <class T>
__attribute__((noinline)) double block_losses(const Job<T>& job, std::size_t start, std::size_t count, T* scores) {
  for (std::size_t c = 0; c < job.outputs; ++c) {
    for (std::size_t i = count; i < round_up(count, kLanes<T>); ++i) scores[c * kBlock + i] = 0;
  }
  T gathered[kBlock];
  const T* const row_weights = job.row_weights == nullptr ? nullptr : gathered;
  if (row_weights != nullptr) gather(job, start, count, job.row_weights, gathered);
  double loss = 0;
  if (job.loss == Loss::softmax || job.loss == Loss::clipped_softmax) {
    std::int32_t labels[kBlock];
    gather(job, start, count, job.labels, labels);
    loss = softmax_block(labels, row_weights, job.outputs, count, job.scale, job.loss == Loss::clipped_softmax, scores);
  } else {
    T targets[kBlock];
    gather(job, start, count, job.targets, targets);
    for (std::size_t i = count; i < round_up(count, kLanes<T>); ++i) targets[i] = 0;
    loss = job.loss == Loss::logistic ? logistic_block(targets, row_weights, count, job.scale, scores)
                                      : squared_block(targets, row_weights, count, job.scale, scores);
  }
  for (std::size_t c = 0; row_weights != nullptr && c < job.outputs; ++c) {
    for (std::size_t i = 0; i < count; ++i) scores[c * kBlock + i] *= row_weights[i];
  }
  return loss;
}
