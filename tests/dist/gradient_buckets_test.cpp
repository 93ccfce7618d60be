#include "nn/gradient_buckets.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include "dist/processes.hpp"

namespace lipschitzlr::nn {
namespace {

// Three steps with parameters of every kind; each line is a step's sum of each gradient, "-" where there is none.
LIPSCHITZLR_WORK(buckets) {
  const auto made = [](at::IntArrayRef sizes) { return at::ones(sizes).requires_grad_(true); };
  at::Tensor plain = made({300, 1000}), some = made({5}), frozen = at::ones({4}), unused = made({3});
  at::Tensor images = at::ones({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_(true);
  const std::vector<at::Tensor> all = {frozen, images, some, unused, plain};
  GradientBuckets buckets(all, communicator);
  if (buckets.count() < 2) out << "too few buckets\n";
  const at::Tensor factors = at::rand({2, 3, 4, 5}).mul_(100).round_();  // any, but whole: their sums are exact
  at::Tensor shared = factors.contiguous();
  communicator.broadcast({static_cast<std::byte*>(shared.data_ptr()), shared.nbytes()});
  for (int step = 1; step <= 3; ++step) {
    buckets.begin();
    // The last process has no images in step 2; only rank 1 ever uses `some`.
    if (step != 2 || communicator.rank() != communicator.size() - 1) {
      const double weight = communicator.rank() + step;
      at::Tensor loss = plain.sum() * weight + (images * shared).sum() * weight + (frozen * 2).sum();
      if (communicator.rank() == 1) loss = loss + (some * some).sum();
      loss.backward();
    }
    buckets.finish();
    double weights = 0;
    for (int rank = 0; rank < communicator.size(); ++rank)
      weights += step == 2 && rank == communicator.size() - 1 ? 0 : rank + step;
    if (!images.grad().equal(shared * weights)) out << "wrong gradient in channels-last\n";
    if (!plain.grad().equal(at::full({300, 1000}, weights))) out << "wrong gradient\n";
    for (const at::Tensor& one : {some, frozen, unused}) {
      out << (one.grad().defined() ? std::to_string(one.grad().sum().item<int>()) : "-") << ' ';
    }
  }
}

TEST(GradientBuckets, SumWhatAnyProcessHasAndLeaveAloneWhatNoneHas) {
  for (const test::Ended& one : test::run_processes(2, "buckets")) {
    EXPECT_EQ(one.exit_code, 0) << one.written;
    EXPECT_EQ(one.written, "10 - - 0 - - 10 - - ");
  }
  for (const test::Ended& one : test::run_processes(3, "buckets")) EXPECT_EQ(one.written, "10 - - 10 - - 10 - - ");
}

}  // namespace
}  // namespace lipschitzlr::nn
