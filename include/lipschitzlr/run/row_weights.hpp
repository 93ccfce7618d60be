#pragma once
// How much each row counts, as a user asks for it: by a column of the table, by class, or both, multiplied. With a
// communicator each process has rows of its own, and what is said here holds for those of all; collective.

#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::run {

// The column of weights, by its name, which is then no feature any more. Throws Error (usage) when there is no such
// feature, Error (data) when a weight is negative or all are 0.
Vector<double> take_weights(data::Table& table, const std::string& column, Communicator* communicator = nullptr);

// What each class of the table counts: "balanced", m / (k m_c) for m_c of m rows in class c of k; or all of them as in
// "no=1,yes=2.5". Throws Error (usage) for another text, for a class that is missing or unknown, or without classes.
std::vector<double> class_weights(const data::Table& table, const std::string& text,
                                  Communicator* communicator = nullptr);

}  // namespace lipschitzlr::run
