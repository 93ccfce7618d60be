#pragma once
// What a computation spread over a team does with its partial results. Without a team (null) there is one process whose
// results are the whole's already: every call then leaves them as they are, to the bit. With one, all calls are
// collective, as Team's are.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lipschitzlr/base/team.hpp"

namespace lipschitzlr {

// Whether this process is the one that writes files and speaks to the user.
inline bool leads(const Team* team) { return team == nullptr || team->leads(); }

inline void sum_over(Team* team, std::span<double> values) {
  if (team != nullptr) team->sum(values);
}

template <class Matrix>
void sum_over(Team* team, Eigen::PlainObjectBase<Matrix>& matrix) {
  sum_over(team, std::span<double>(matrix.data(), static_cast<std::size_t>(matrix.size())));
}

inline double sum_over(Team* team, double value) {
  sum_over(team, std::span<double>(&value, 1));
  return value;
}

// Not a number when it is none in any process.
double maximum_over(Team* team, double value);

// Everybody's values, one process' after the other's in order of rank; their numbers may differ.
std::vector<double> gather_over(Team* team, std::vector<double> own);

// The text of rank 0.
std::string broadcast_over(Team* team, std::string text);

// What rank 0 alone can do (read a file, choose a name), for all: the text its work returns, or the Error it throws.
std::string from_leader(Team* team, const std::function<std::string()>& work);

}  // namespace lipschitzlr
