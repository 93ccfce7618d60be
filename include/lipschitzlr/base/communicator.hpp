#pragma once
// Processes that compute one thing together: the operations between them, not how they are carried out; dist/
// implements them on Gloo. All calls are collective: every process makes the same calls, in the same order, with as
// many values. What comes out has the same bits in every process. They throw Error (training) that names the process
// that was lost.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  // of this process, from 0
  virtual int size() const = 0;
  bool is_root() const { return rank() == 0; }  // the one that writes files and prints

  // A sum on its way: the values are the sums once wait() has returned, and must live until then.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };
  virtual std::unique_ptr<Pending> start_sum(std::span<float> values) = 0;
  virtual std::unique_ptr<Pending> start_sum(std::span<double> values) = 0;

  void sum(std::span<float> values) { start_sum(values)->wait(); }
  void sum(std::span<double> values) { start_sum(values)->wait(); }
  virtual void maximum(std::span<double> values) = 0;
  virtual void broadcast(std::span<std::byte> bytes) = 0;  // from rank 0 to all
};

// The part [first, second) of count things that is this rank's: in order of rank, sizes that differ by one at most.
inline std::pair<Index, Index> share_of(Index count, int rank, int size) {
  return {count * rank / size, count * (rank + 1) / size};
}

}  // namespace lipschitzlr
