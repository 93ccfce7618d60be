#include "nn/gradient_buckets.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <span>

namespace lipschitzlr::nn {
namespace {

namespace autograd = torch::autograd;

// Large enough that a message costs more than its start, small enough that most are under way before the pass ends.
constexpr std::int64_t kBucketBytes = 1 << 20;

}  // namespace

struct GradientBuckets::Member {
  at::Tensor parameter, gradient;  // the gradient is a view into the bucket
  std::shared_ptr<autograd::Node> accumulator;
  std::uintptr_t hook = 0;
  std::int64_t mark = 0;  // where in the bucket it is noted that this process has a gradient
  bool used = false;      // some process had one, in this step or before
};

struct GradientBuckets::Bucket {
  at::Tensor flat;  // the gradients one after the other, then a mark for each of them
  std::vector<Member> members;
  std::size_t missing = 0;  // members whose gradient is not there yet
  std::unique_ptr<Communicator::Pending> pending;
};

// Told by libtorch when a parameter's gradient is complete.
struct GradientBuckets::Ready : public autograd::FunctionPostHook {
  Ready(GradientBuckets& owner, Bucket& bucket, std::int64_t mark) : owner_(owner), bucket_(bucket), mark_(mark) {}
  autograd::variable_list operator()(const autograd::variable_list& outputs, const autograd::variable_list&) override {
    const at::NoGradGuard no_grad;
    bucket_.flat[mark_].fill_(1);
    --bucket_.missing;
    owner_.start_filled();
    return outputs;
  }

  GradientBuckets& owner_;
  Bucket& bucket_;
  std::int64_t mark_;
};

GradientBuckets::GradientBuckets(const std::vector<at::Tensor>& parameters, Communicator& communicator)
    : communicator_(communicator) {
  std::vector<at::Tensor> together;
  std::size_t bytes = 0;
  const auto close = [&] {
    if (!together.empty()) add_bucket(together);
    together.clear();
    bytes = 0;
  };
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    if (!parameter->requires_grad()) continue;
    if (!together.empty() && together.front().scalar_type() != parameter->scalar_type()) close();
    together.push_back(*parameter);
    bytes += parameter->nbytes();
    if (bytes >= kBucketBytes) close();
  }
  close();
}

void GradientBuckets::add_bucket(const std::vector<at::Tensor>& parameters) {
  Bucket& bucket = *buckets_.emplace_back(std::make_unique<Bucket>());
  std::int64_t size = 0;
  for (const at::Tensor& parameter : parameters) size += parameter.numel();
  const std::int64_t marks = size;
  bucket.flat = at::zeros({marks + static_cast<std::int64_t>(parameters.size())}, parameters.front().scalar_type());
  auto* place = static_cast<std::byte*>(bucket.flat.data_ptr());
  for (const at::Tensor& parameter : parameters) {
    Member member{.parameter = parameter, .gradient = {}, .accumulator = autograd::impl::grad_accumulator(parameter)};
    member.mark = marks + static_cast<std::int64_t>(bucket.members.size());
    // A dense tensor fills numel() places whatever the order of its dimensions; the view must keep the bucket alive.
    member.gradient = at::from_blob(
        place, parameter.sizes(), parameter.strides(), [flat = bucket.flat](void*) {},
        parameter.options().requires_grad(false));
    member.hook = member.accumulator->add_post_hook(std::make_unique<Ready>(*this, bucket, member.mark));
    place += parameter.nbytes();
    bucket.members.push_back(std::move(member));
  }
}

GradientBuckets::~GradientBuckets() {
  for (const auto& bucket : buckets_) {
    for (Member& member : bucket->members) member.accumulator->del_post_hook(member.hook);
  }
}

void GradientBuckets::begin() {
  const at::NoGradGuard no_grad;
  next_ = 0;
  for (const auto& bucket : buckets_) {
    bucket->flat.zero_();
    bucket->missing = bucket->members.size();
    for (Member& member : bucket->members) member.parameter.mutable_grad() = member.gradient;
  }
}

void GradientBuckets::start_filled() {
  while (next_ < buckets_.size() && buckets_[next_]->missing == 0) start(*buckets_[next_++]);
}

void GradientBuckets::start(Bucket& bucket) {
  const auto size = static_cast<std::size_t>(bucket.flat.numel());
  bucket.pending = bucket.flat.scalar_type() == at::kDouble
                       ? communicator_.start_sum(std::span(bucket.flat.data_ptr<double>(), size))
                       : communicator_.start_sum(std::span(bucket.flat.data_ptr<float>(), size));
}

void GradientBuckets::finish() {
  while (next_ < buckets_.size()) start(*buckets_[next_++]);
  for (const auto& bucket : buckets_) {
    bucket->pending->wait();
    bucket->pending.reset();
    for (Member& member : bucket->members) {
      member.used = member.used || bucket->flat[member.mark].item<double>() > 0;
      // As in one process: what never had a gradient is left alone by the optimizer, weight decay included.
      if (!member.used) member.parameter.mutable_grad().reset();
    }
  }
}

}  // namespace lipschitzlr::nn
