#pragma once
// Splitting rows into training and test rows, or into folds, with a seeded generator; class by class when the target
// has classes. With a communicator the table has the rows of this process, those of all are split, and the row numbers
// that come out are those of its own; collective.

#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data {

struct Split {
  std::vector<Index> train, test;  // row numbers, each ascending; together every row once
};

// round(test_fraction * rows) rows go to the test side. With classes, each gives its share, the left-over rows going
// to the classes with the largest remainders; no class is emptied of training rows, even when the test side then stays
// smaller. Which rows go depends on the generator only. Throws Error (usage) unless 0 <= test_fraction < 1, or when a
// fraction above 0 would give no test row at all.
Split split_rows(const Table& table, double test_fraction, Random& random, Communicator* communicator = nullptr);

// The rows dealt into parts whose sizes differ by at most one, each class spread as evenly; row numbers ascending. Some
// parts are empty when there are fewer rows. Which part a row is in depends on the generator and on what the rows hold,
// not on their order. Throws Error (usage) unless parts >= 1.
std::vector<std::vector<Index>> deal_rows(const TableView& table, int parts, Random& random,
                                          Communicator* communicator = nullptr);

}  // namespace lipschitzlr::data
