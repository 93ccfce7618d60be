#pragma once
// The inputs and targets of one batch as tensors, filled by data::Examples: the channels of a pixel lie side by side.

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <span>
#include <vector>

#include "lipschitzlr/data/batch/examples.hpp"
#include "lipschitzlr/nn/training_loss.hpp"

namespace lipschitzlr::nn {

struct TrainingBatch {
  // With room for the inputs of the chosen examples, and their targets.
  TrainingBatch(const data::Examples& examples, std::span<const Index> chosen, TrainingLoss loss)
      : TrainingBatch(examples.shape(), static_cast<Index>(chosen.size())) {
    targets = at::empty({static_cast<Index>(chosen.size())}, takes_classes(loss) ? at::kLong : at::kDouble);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const double target = examples.target(chosen[i]);
      if (takes_classes(loss)) {
        targets.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(target);
      } else {
        targets.data_ptr<double>()[i] = target;
      }
    }
  }
  TrainingBatch(TrainingBatch&&) = default;  // which leaves the values where the tensor looks for them

  std::vector<float> values;
  at::Tensor tensor, targets;

 private:
  TrainingBatch(const data::Examples::Shape& shape, Index count)
      : values(static_cast<std::size_t>(count * shape.size())),
        tensor(at::from_blob(values.data(), {count, shape.channels, shape.height, shape.width},
                             {shape.size(), 1, shape.width * shape.channels, shape.channels}, at::kFloat)) {}
};

// The batch of that number, from 0; the last one may be smaller.
inline std::span<const Index> batch_of(std::span<const Index> all, Index number, Index size) {
  const auto begin = static_cast<std::size_t>(number * size);
  return all.subspan(begin, std::min(static_cast<std::size_t>(size), all.size() - begin));
}

inline Index count_batches(std::size_t examples, Index size) {
  return (static_cast<Index>(examples) + size - 1) / size;
}

// Examples whose class is the one with the highest score, of one output the second when it is positive; 0 of numbers.
inline Index count_correct(TrainingLoss loss, const at::Tensor& outputs, const at::Tensor& targets) {
  if (loss == TrainingLoss::squared_error) return 0;
  if (!takes_classes(loss)) return outputs.select(1, 0).gt(0).eq(targets.gt(0.5)).sum().item<Index>();
  return outputs.argmax(1).eq(targets).sum().item<Index>();
}

}  // namespace lipschitzlr::nn
