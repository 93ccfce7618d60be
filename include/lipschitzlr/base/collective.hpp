#pragma once
// Collective operations on the partial results of a computation that several processes share. Without a communicator
// (null) there is one process, whose results are complete: every call then returns them unchanged, to the bit. With
// one, all calls are collective, as Communicator's are.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {

// Whether this process is the one that writes files and prints.
inline bool is_root(const Communicator* communicator) { return communicator == nullptr || communicator->is_root(); }

inline void all_reduce_sum(Communicator* communicator, std::span<double> values) {
  if (communicator != nullptr) communicator->sum(values);
}

template <class Matrix>
void all_reduce_sum(Communicator* communicator, Eigen::PlainObjectBase<Matrix>& matrix) {
  all_reduce_sum(communicator, std::span<double>(matrix.data(), static_cast<std::size_t>(matrix.size())));
}

inline double all_reduce_sum(Communicator* communicator, double value) {
  all_reduce_sum(communicator, std::span<double>(&value, 1));
  return value;
}

// NaN when it is NaN in any process.
double all_reduce_max(Communicator* communicator, double value);

// The values of all processes in order of rank; they may have different numbers of them.
std::vector<double> all_gather(Communicator* communicator, std::vector<double> own);

// The bytes of each process, in order of rank.
std::vector<std::string> gather_bytes(Communicator* communicator, const std::string& own);

// The largest of all processes, each value by itself; none may be NaN.
inline void all_reduce_max(Communicator* communicator, std::span<double> values) {
  if (communicator != nullptr) communicator->maximum(values);
}

template <class Matrix>
void all_reduce_max(Communicator* communicator, Eigen::PlainObjectBase<Matrix>& matrix) {
  all_reduce_max(communicator, std::span<double>(matrix.data(), static_cast<std::size_t>(matrix.size())));
}

// What one process after the other, in order of rank, makes of the numbers that the one before it left: a sum over the
// rows of all processes then has the bits that one process would give it. The result is known to all. The work must
// not throw.
void in_turn(Communicator* communicator, std::span<double> numbers, const std::function<void()>& work);

// Work that may fail in some processes: then all of them throw the Error of the first of these.
void together(Communicator* communicator, const std::function<void()>& work);

// The text of rank 0.
std::string broadcast(Communicator* communicator, std::string text);

// What rank 0 alone can do (read a file, choose a name), for all: the text its work returns, or the Error it throws.
std::string from_root(Communicator* communicator, const std::function<std::string()>& work);

// Collective. Throws Error (fault) in every process unless the fingerprint (a hash, or the text itself) is rank 0's in
// all of them: "other data in rank 2 than in rank 0", what being "data". Called once, at the start: processes that
// differ would silently train something else than was meant.
void require_equal(Communicator& communicator, const std::string& what, std::string_view fingerprint,
                   Fault fault = Fault::usage);

}  // namespace lipschitzlr
