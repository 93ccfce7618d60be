#include "lipschitzlr/linear/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "linear/buffer.hpp"
#include "linear/column_index.hpp"
#include "linear/matrix_view.hpp"
#include "linear/objective_plan.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

// In bytes: what a core's second-level cache holds, and the vectors of the widest instruction set.
constexpr std::size_t kSmallMatrix = 1u << 20;
constexpr std::size_t kWidestVector = 64;
template <class Scalar>
std::vector<std::int32_t> class_indices(const Vector<Scalar>& targets, Index classes) {
  std::vector<std::int32_t> indices;
  indices.reserve(size_of(targets.size()));
  for (Index i = 0; i < targets.size(); ++i) {
    const Scalar value = targets[i];
    if (!(value >= 0 && value < static_cast<Scalar>(classes) && value == std::floor(value))) {
      throw Error(Fault::data,
                  fmt::format("row {}: the target {} is not a class; classes are the whole numbers 0 to {}", i + 1,
                              value, classes - 1));
    }
    indices.push_back(static_cast<std::int32_t>(value));
  }
  return indices;
}

}  // namespace

std::string to_string(Family family) {
  static constexpr const char* kNames[] = {"linear", "logistic", "softmax"};
  return kNames[static_cast<std::size_t>(family)];
}

Family family_from(const std::string& name) {
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    if (name == to_string(family)) return family;
  }
  throw Error(Fault::usage, fmt::format("{} is not a model; use linear, logistic or softmax", name));
}

template <class Scalar>
struct Objective<Scalar>::Impl {
  Family family;
  Index rows, outputs;
  double row_work;
  ThreadPool& pool;
  const kernel::Engine<Scalar>& engine;
  Vector<Scalar> targets, row_weights;
  std::vector<std::int32_t> labels;
  kernel::Job<Scalar> job;  // what all chunks of all calls have in common

  std::size_t packed_size, scratch_size;
  ColumnIndex by_columns;   // of all rows, when the matrix is sparse and of ones
  Buffer<Scalar> by_lanes;  // of all rows, when the matrix is dense and small
  Buffer<Scalar> weights, gradients, scratch;
  std::vector<double> losses;

  template <class Matrix>
  Impl(Family kind, const Matrix& features, const Vector<Scalar>& given, Index classes, ThreadPool& threads,
       const Vector<double>& weights_of_rows)
      : family(kind),
        rows(features.rows()),
        outputs(classes),
        pool(threads),
        engine(engine_for(features)),
        targets(given),
        row_weights(weights_of_rows.cast<Scalar>()) {
    check(features.cols());
    describe(features, job);
    job.loss = static_cast<kernel::Loss>(family);  // in the same order
    job.features = size_of(features.cols());
    job.outputs = size_of(outputs);
    job.targets = targets.data();
    if (row_weights.size() > 0) job.row_weights = row_weights.data();
    if (family == Family::logistic) class_indices(targets, 2);
    if (family == Family::softmax) labels = class_indices(targets, outputs);
    job.labels = labels.data();
    row_work = (work_per_row(features) + kScoreCost) * static_cast<double>(outputs);
    packed_size = engine.packed_size(job.features, job.outputs);
    scratch_size = engine.scratch_size(job.features, job.outputs);
    copy_for_whole_passes();
  }

  // Most passes are over all rows; where a second form of the matrix makes them quicker, it is made once.
  void copy_for_whole_passes() {
    const std::size_t count = size_of(rows);
    const Plan plan = plan_for(count);
    if (job.ones && outputs == 1) by_columns = ColumnIndex(plan, count, job.features, job.starts, job.columns);
    if (job.dense != nullptr && count * job.features * sizeof(Scalar) <= kSmallMatrix) {
      const auto& kernels = kernel::kernels<Scalar>();
      job.lanes = by_lanes.reserve(kernels.lanes_size(count, job.features));
      kernels.fill_lanes(count, job.features, job.dense, by_lanes.reserve(0));
      scratch_size += job.features * kWidestVector / sizeof(Scalar);
    }
    if (!by_columns.empty()) scratch_size += plan.rows_per_chunk;
  }

  Plan plan_for(std::size_t count) const {
    return make_plan(count, row_work * static_cast<double>(count), packed_size, packed_size * sizeof(Scalar));
  }

  void check(Index columns) const {
    if (rows == 0) throw Error(Fault::data, "there are no rows to learn from");
    if (columns == 0) throw Error(Fault::data, "there are no feature columns to learn from");
    if (targets.size() != rows) {
      throw Error(Fault::data, fmt::format("there are {} rows but {} targets", rows, targets.size()));
    }
    if (row_weights.size() != 0 && row_weights.size() != rows) {
      throw Error(Fault::data, fmt::format("there are {} rows but {} weights of rows", rows, row_weights.size()));
    }
    for (Index i = 0; i < row_weights.size(); ++i) {
      if (std::isfinite(row_weights[i]) && row_weights[i] >= 0) continue;
      throw Error(Fault::data, fmt::format("row {}: the weight {} is not a finite number, 0 or above", i + 1,
                                           static_cast<double>(row_weights[i])));
    }
    const Index least = family == Family::softmax ? 2 : 1;
    if (outputs < least || (family != Family::softmax && outputs != 1)) {
      throw Error(Fault::data, fmt::format("{} regression can't have {} outputs; softmax takes 2 or more, the others 1",
                                           to_string(family), outputs));
    }
  }

  double evaluate(const Weights<Scalar>& at, Weights<Scalar>& gradient, const Index* batch, std::size_t count) {
    check_shape(at.rows(), at.cols(), static_cast<Index>(job.features), outputs);
    gradient.resize(at.rows(), at.cols());
    const Plan plan = plan_for(count);
    Scalar* const packed = weights.reserve(packed_size);
    engine.pack(job.features, job.outputs, at.data(), packed);
    job.weights = packed;
    const double total = total_weight(batch, count);
    job.scale = static_cast<Scalar>(total > 0 ? 1 / total : 0);
    job.gradient = gradients.reserve(plan.chunks * packed_size);
    job.scratch = scratch.reserve(plan.chunks * scratch_size);
    if (losses.size() < plan.chunks) losses.resize(plan.chunks);
    run(plan, batch, count);
    add_up(job.gradient, plan.chunks, packed_size, pool);
    engine.unpack(job.features, job.outputs, job.gradient, gradient.data());
    double loss = 0;
    for (std::size_t i = 0; i < plan.chunks; ++i) loss += losses[i];
    return total > 0 ? loss / total : 0;
  }

  double total_weight(const Index* batch, std::size_t count) const {
    if (row_weights.size() == 0) return static_cast<double>(count);
    if (batch == nullptr) return row_weights.template cast<double>().sum();
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(row_weights[batch[i]]);
    return sum;
  }

  void run(const Plan& plan, const Index* batch, std::size_t count) {
    struct Work {
      Impl* self;
      const Plan& plan;
      const Index* batch;
      std::size_t count;
    } const work{this, plan, batch, count};
    // One pointer is all that is captured: a larger task would be allocated anew at every call.
    const auto chunk = [&work](std::size_t number) { work.self->run_chunk(work.plan, number, work.batch, work.count); };
    if (plan.chunks == 1) {
      chunk(0);
    } else {
      pool.run(plan.chunks, chunk);
    }
  }

  void run_chunk(const Plan& plan, std::size_t number, const Index* batch, std::size_t count) {
    kernel::Job<Scalar> part = job;
    part.first = number * plan.rows_per_chunk;
    part.count = std::min(plan.rows_per_chunk, count - part.first);
    part.rows = batch == nullptr ? nullptr : batch + part.first;
    part.gradient += number * packed_size;
    part.scratch += number * scratch_size;
    if (batch != nullptr) part.lanes = nullptr;
    if (batch == nullptr && !by_columns.empty()) {
      part.members = by_columns.members();
      part.member_starts = by_columns.starts(number);
    }
    Buffer<Scalar> made;
    part.made = made.reserve(made_size(job));
    losses[number] = engine.evaluate(part);
  }
};

template <class Scalar>
Objective<Scalar>::Objective(Family family, const DenseMatrix<Scalar>& features, const Vector<Scalar>& targets,
                             Index classes, ThreadPool& pool, const Vector<double>& row_weights)
    : impl_(std::make_unique<Impl>(family, features, targets, classes, pool, row_weights)) {}

template <class Scalar>
Objective<Scalar>::Objective(Family family, const SparseMatrix<Scalar>& features, const Vector<Scalar>& targets,
                             Index classes, ThreadPool& pool, const Vector<double>& row_weights)
    : impl_(std::make_unique<Impl>(family, features, targets, classes, pool, row_weights)) {}

template <class Scalar>
Objective<Scalar>::Objective(Family family, const StreamedRows<Scalar>& features, const Vector<Scalar>& targets,
                             Index classes, ThreadPool& pool, const Vector<double>& row_weights)
    : impl_(std::make_unique<Impl>(family, features, targets, classes, pool, row_weights)) {}

template <class Scalar>
Objective<Scalar>::~Objective() = default;

template <class Scalar>
void Objective<Scalar>::clip() {
  if (impl_->family != Family::softmax) throw Error(Fault::usage, "only the loss of softmax regression can be clipped");
  impl_->job.loss = kernel::Loss::clipped_softmax;
}

template <class Scalar>
double Objective<Scalar>::evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient) const {
  return impl_->evaluate(weights, gradient, nullptr, size_of(impl_->rows));
}

template <class Scalar>
double Objective<Scalar>::evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient,
                                   std::span<const Index> rows) const {
  if (rows.empty()) throw Error(Fault::data, "a mini-batch needs at least one row");
  for (Index row : rows) {
    if (row < 0 || row >= impl_->rows) {
      throw Error(Fault::data, fmt::format("a mini-batch asks for row {} of {}", row + 1, impl_->rows));
    }
  }
  return impl_->evaluate(weights, gradient, rows.data(), rows.size());
}

template class Objective<float>;
template class Objective<double>;
}  // namespace lipschitzlr::linear
