#pragma once
// The rows of a problem that lie in this process, and how means over them become means over everybody's: the one place
// where a linear training reduces loss and gradient. Without a team all rows are here.

#include <span>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

class RowShare {
 public:
  // Collective. here rows lie in this process, 0 perhaps; their numbers go on from those of the ranks before.
  RowShare(Index here, Communicator* communicator);

  Communicator* communicator() const { return communicator_; }
  Index here() const { return here_; }
  Index total() const { return total_; }

  // Those of the given rows (by their numbers among all) that lie here, by their numbers here; valid until the next
  // call. Throws Error (data) when a team is given no rows or one that nobody has; without a team they are as given.
  std::span<const Index> here_of(std::span<const Index> rows) const;

  // Collective. From the mean loss and gradient over count rows that lie here (0: taken as zero) to those over all such
  // rows, of which there are total. One sum of as many numbers as the gradient has, and one more, in double.
  template <class Scalar>
  double combine(double loss, Weights<Scalar>& gradient, Index count, Index total) const;

 private:
  Communicator* communicator_;
  Index here_, first_ = 0, total_;
  mutable std::vector<Index> chosen_;
  mutable std::vector<double> sums_;
};

}  // namespace lipschitzlr::linear
