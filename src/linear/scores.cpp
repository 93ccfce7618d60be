#include "linear/buffer.hpp"
#include "linear/matrix_view.hpp"
#include "linear/objective_plan.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {
namespace {

template <class Scalar, class Matrix>
DenseMatrix<Scalar> all_scores(const Matrix& features, const Weights<Scalar>& weights, ThreadPool& pool) {
  check_shape(weights.rows(), weights.cols(), features.cols(), weights.cols());
  DenseMatrix<Scalar> outcome = DenseMatrix<Scalar>::Zero(features.rows(), weights.cols());
  if (outcome.size() == 0 || features.cols() == 0) return outcome;
  const kernel::Engine<Scalar>& engine = engine_for(features);
  kernel::Job<Scalar> job;
  describe(features, job);
  job.features = size_of(features.cols());
  job.outputs = size_of(weights.cols());
  Buffer<Scalar> packed, scratch;
  engine.pack(job.features, job.outputs, weights.data(), packed.reserve(engine.packed_size(job.features, job.outputs)));
  job.weights = packed.reserve(0);
  const std::size_t rows = size_of(features.rows());
  const double work = (work_per_row(features) + kScoreCost) * static_cast<double>(outcome.size());
  const Plan plan = make_plan(rows, work, 1, 1);
  const std::size_t scratch_size = engine.scratch_size(job.features, job.outputs);
  scratch.reserve(plan.chunks * scratch_size);
  pool.run(plan.chunks, [&](std::size_t chunk) {
    kernel::Job<Scalar> part = job;
    part.first = chunk * plan.rows_per_chunk;
    part.count = std::min(plan.rows_per_chunk, rows - part.first);
    part.scratch = scratch.reserve(0) + chunk * scratch_size;
    Buffer<Scalar> made;
    part.made = made.reserve(made_size(job));
    engine.scores(part, outcome.data() + part.first * job.outputs);
  });
  return outcome;
}

}  // namespace

template <class Scalar>
DenseMatrix<Scalar> scores(const DenseMatrix<Scalar>& features, const Weights<Scalar>& weights, ThreadPool& pool) {
  return all_scores<Scalar>(features, weights, pool);
}

template <class Scalar>
DenseMatrix<Scalar> scores(const SparseMatrix<Scalar>& features, const Weights<Scalar>& weights, ThreadPool& pool) {
  return all_scores<Scalar>(features, weights, pool);
}

template <class Scalar>
DenseMatrix<Scalar> scores(const StreamedRows<Scalar>& features, const Weights<Scalar>& weights, ThreadPool& pool) {
  return all_scores<Scalar>(features, weights, pool);
}

template DenseMatrix<float> scores(const DenseMatrix<float>&, const Weights<float>&, ThreadPool&);
template DenseMatrix<float> scores(const SparseMatrix<float>&, const Weights<float>&, ThreadPool&);
template DenseMatrix<double> scores(const DenseMatrix<double>&, const Weights<double>&, ThreadPool&);
template DenseMatrix<double> scores(const SparseMatrix<double>&, const Weights<double>&, ThreadPool&);
template DenseMatrix<float> scores(const StreamedRows<float>&, const Weights<float>&, ThreadPool&);
template DenseMatrix<double> scores(const StreamedRows<double>&, const Weights<double>&, ThreadPool&);

}  // namespace lipschitzlr::linear
