#pragma once
// The data of a workload as tensors: examples to train on and others to judge by, chosen and scaled once, whatever the
// seed of a run. Sets come from the catalogue (`lipschitzlr data get NAME`); the text is the licences of Debian's
// base-files, which every Debian has.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace lipschitzlr::bench {

struct Data {
  at::Tensor train_inputs, train_targets, valid_inputs, valid_targets;
  std::int64_t classes = 0;  // 0: a quantity is predicted
};

// Of a set's training images so many, n x channels x side x side (each pixel the mean of those it stands for), with
// mean 0 and deviation 1 over all of them.
Data images(const std::string& set, std::int64_t train, std::int64_t valid, std::int64_t side);
// The same, to be predicted themselves: flat pixels from 0 to 1.
Data images_to_copy(const std::string& set, std::int64_t train, std::int64_t valid);
// Of a set's rows so many; columns and a numeric target have mean 0 and deviation 1 on the training rows. The target is
// then multiplied by target_scale.
Data table(const std::string& set, std::int64_t train, std::int64_t valid, double target_scale = 1);
// Windows of characters, 150 to judge by; the targets are the characters that follow.
Data text(std::int64_t context);

}  // namespace lipschitzlr::bench
