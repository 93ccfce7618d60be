#pragma once
// The rows of a problem that this process holds, and how means over them become means over all rows: the one place
// where a linear training reduces loss and gradient over processes. Without a communicator all rows are here.

#include <span>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

class RowShare {
 public:
  // Collective. This process holds `here` rows, possibly 0; their numbers follow those of the ranks before.
  RowShare(Index here, Communicator* communicator);

  Communicator* communicator() const { return communicator_; }
  Index here() const { return here_; }
  Index first() const { return first_; }  // the number of the first row here among all
  Index total() const { return total_; }

  // Those of the given rows (by their numbers among all) that are here, by their numbers here; valid until the next
  // call. With a communicator, throws Error (data) for no rows or a row that no process has; without, returns rows.
  std::span<const Index> here_of(std::span<const Index> rows) const;

  // Collective. From the mean loss and gradient over count rows that are here (0: taken as zero) to those over all such
  // rows, of which there are total; rows with weights count as much as they weigh. One sum in double of one number more
  // than the gradient has.
  template <class Scalar>
  double combine(double loss, Weights<Scalar>& gradient, double count, double total) const;

 private:
  Communicator* communicator_;
  Index here_, first_ = 0, total_;
  mutable std::vector<Index> chosen_;
  mutable std::vector<double> sums_;
};

}  // namespace lipschitzlr::linear
