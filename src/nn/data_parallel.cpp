#include "nn/data_parallel.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <cstring>

namespace lipschitzlr::nn {

DataParallel::DataParallel(Communicator& communicator, Network& network)
    : communicator_(communicator), network_(network), buckets_(network.parameters(), communicator) {
  broadcast_weights();
}

std::span<const Index> DataParallel::share(std::span<const Index> batch) const {
  const auto [begin, end] = share_of(static_cast<Index>(batch.size()), communicator_.rank(), communicator_.size());
  return batch.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

void DataParallel::broadcast_weights() {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> tensors = network_.parameters();
  const std::vector<at::Tensor> buffers = network_.buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  std::size_t size = 0;
  for (const at::Tensor& tensor : tensors) size += tensor.nbytes();
  std::vector<std::byte> bytes(size);  // one message
  std::byte* place = bytes.data();
  for (const at::Tensor& tensor : tensors) {
    std::memcpy(place, tensor.contiguous().data_ptr(), tensor.nbytes());
    place += tensor.nbytes();
  }
  communicator_.broadcast(bytes);
  if (communicator_.is_root()) return;
  place = bytes.data();
  for (at::Tensor& tensor : tensors) {
    const at::Tensor received = at::empty(tensor.sizes(), tensor.scalar_type());
    std::memcpy(received.data_ptr(), place, tensor.nbytes());
    tensor.copy_(received);  // which may lie in another order
    place += tensor.nbytes();
  }
}

void DataParallel::collect(std::span<PenultimateNorms> norms) {
  std::vector<double> values;
  for (const PenultimateNorms& of : norms) {
    values.insert(values.end(), {of.frobenius, of.row_norm_sum, of.square_frobenius, static_cast<double>(of.rows),
                                 of.sum, of.cube_sum, static_cast<double>(of.columns), of.output_norm, of.target_norm});
  }
  communicator_.sum(values);
  const double* value = values.data();
  for (PenultimateNorms& of : norms) {
    of = {value[0], value[1], value[2], static_cast<Index>(value[3]), value[4], value[5], static_cast<Index>(value[6]),
          value[7], value[8]};
    value += 9;
  }
}

void DataParallel::begin_step() { buckets_.begin(); }

void DataParallel::send(const BatchSums& own) {
  const PenultimateNorms& norms = own.norms;
  sums_ = {own.loss,
           static_cast<double>(own.correct),
           norms.frobenius * norms.frobenius,
           norms.row_norm_sum,
           norms.square_frobenius * norms.square_frobenius,
           static_cast<double>(norms.rows),
           norms.sum,
           norms.cube_sum,
           own.stop ? 1.0 : 0.0,
           norms.output_norm * norms.output_norm,
           norms.target_norm * norms.target_norm};
  pending_ = communicator_.start_sum(std::span(sums_));
}

BatchSums DataParallel::receive() {
  pending_->wait();
  pending_.reset();
  buckets_.finish();
  return {.loss = sums_[0],
          .correct = static_cast<Index>(sums_[1]),
          .norms = {.frobenius = std::sqrt(sums_[2]),
                    .row_norm_sum = sums_[3],
                    .square_frobenius = std::sqrt(sums_[4]),
                    .rows = static_cast<Index>(sums_[5]),
                    .sum = sums_[6],
                    .cube_sum = sums_[7],
                    .columns = network_.head()->weight.size(1),
                    .output_norm = std::sqrt(sums_[9]),
                    .target_norm = std::sqrt(sums_[10])},
          .stop = sums_[8] > 0};
}

}  // namespace lipschitzlr::nn
