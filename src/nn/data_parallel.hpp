#pragma once
// What several processes exchange while they train one network: the weights, and in every step the sums
// that make it a step of the whole batch: gradients, loss, ||A||_F^2, ||A o A||_F^2, sum ||a_i||, rows. Each process
// has its share of the batch's images, which may be none; what comes out has the same bits in all of them.

#include <memory>
#include <span>
#include <vector>

#include "lipschitzlr/nn/network.hpp"
#include "nn/gradient_buckets.hpp"

namespace lipschitzlr::nn {

// Over the images of a batch.
struct BatchSums {
  double loss = 0;
  Index correct = 0;
  PenultimateNorms norms = {};
  bool stop = false;  // a process asks to stop after this step
};

class DataParallel {
 public:
  // The network's weights become those of rank 0. Both must outlive the object.
  DataParallel(Communicator& communicator, Network& network);

  std::span<const Index> share(std::span<const Index> batch) const;
  // Parameters and buffers of all become those of rank 0. Running statistics of batch norm differ between processes,
  // each of which has seen its own images.
  void broadcast_weights();

  // Each process has measured some of these, and left the others zero: all have all of them then.
  void collect(std::span<PenultimateNorms> norms);

  // One step: begin_step(), forward pass over the share, send(), backward pass, receive(). Where the share is empty
  // there are no passes, but the same calls.
  void begin_step();
  void send(const BatchSums& own);
  BatchSums receive();  // those of all; the gradients are then those of all too

 private:
  Communicator& communicator_;
  Network& network_;
  GradientBuckets buckets_;
  std::vector<double> sums_;
  std::unique_ptr<Communicator::Pending> pending_;
};

}  // namespace lipschitzlr::nn
