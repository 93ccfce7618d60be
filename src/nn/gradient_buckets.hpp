#pragma once
// The gradients of all parameters in a few flat buckets, each summed over the processes as soon as the
// backward pass has filled it, while the pass continues with the layers before. A parameter's gradient is a view into
// its bucket, in the parameter's own memory format: nothing is copied. Buckets follow the backward pass: last layer
// first.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"

namespace lipschitzlr::nn {

class GradientBuckets {
 public:
  // Parameters that need no gradient are left out. All processes give the same ones, in the same order.
  GradientBuckets(const std::vector<at::Tensor>& parameters, Communicator& communicator);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  void begin();   // before the backward pass, instead of zero_grad(): all gradients are zero
  void finish();  // after it, if there was one: all gradients are sums over the processes
  std::size_t count() const { return buckets_.size(); }

 private:
  struct Member;
  struct Bucket;
  struct Ready;
  void add_bucket(const std::vector<at::Tensor>& parameters);
  void start_filled();
  void start(Bucket& bucket);

  Communicator& communicator_;
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::size_t next_ = 0;  // the bucket whose sum is started next: in all processes in the same order
};

}  // namespace lipschitzlr::nn
