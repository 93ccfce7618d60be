#include "lipschitzlr/data/table/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

// The rows of each class; one group of all rows when there are no classes.
std::vector<std::vector<Index>> group_rows(const TableView& table) {
  std::vector<std::vector<Index>> groups(std::max<std::size_t>(table.labels.size(), 1));
  for (Index row = 0; row < table.rows(); ++row) {
    groups[table.labels.empty() ? 0 : static_cast<std::size_t>(table.target[row])].push_back(row);
  }
  return groups;
}

// How many rows each group gives so that the sum is total: whole shares first, then one more by largest remainder, and
// again while groups that must keep a row leave something over.
std::vector<std::size_t> shares(const std::vector<std::vector<Index>>& groups, double fraction, std::size_t total) {
  std::vector<std::size_t> share, most;
  std::vector<double> remainder;
  for (const auto& group : groups) {
    const double exact = fraction * static_cast<double>(group.size());
    most.push_back(group.empty() ? 0 : group.size() - 1);
    share.push_back(std::min(static_cast<std::size_t>(exact), most.back()));
    remainder.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return remainder[a] > remainder[b]; });
  std::size_t given = std::accumulate(share.begin(), share.end(), std::size_t{0});
  for (bool moved = true; moved && given < total;) {
    moved = false;
    for (std::size_t group : order) {
      if (given == total || share[group] == most[group]) continue;
      ++share[group];
      ++given;
      moved = true;
    }
  }
  return share;
}

// Of the values of a row that are not 0, so that dense and sparse rows of the same values are alike.
class RowHash {
 public:
  void add(Index column, double value) {
    if (value == 0) return;
    const auto place = static_cast<std::uint64_t>(column) * 0xff51afd7ed558ccd;
    hash_ = (hash_ ^ place ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0x243f6a8885a308d3;
};

template <class Scalar>
void add_row(const DenseView<Scalar>& features, Index row, RowHash& hash) {
  for (Index column = 0; column < features.cols(); ++column) {
    hash.add(column, static_cast<double>(features(row, column)));
  }
}

template <class Scalar>
void add_row(const SparseView<Scalar>& features, Index row, RowHash& hash) {
  for (typename SparseView<Scalar>::InnerIterator cell(features, row); cell; ++cell) {
    hash.add(cell.col(), static_cast<double>(cell.value()));
  }
}

struct KeyedRow {
  std::uint64_t key;
  Index row;
  auto operator<=>(const KeyedRow&) const = default;
};

// The rows of each class in an order that follows from what they hold; equal ones stay as they are.
std::vector<std::vector<KeyedRow>> groups_by_contents(const TableView& table) {
  std::vector<std::vector<KeyedRow>> groups(std::max<std::size_t>(table.labels.size(), 1));
  const auto class_of = [&](Index row) {
    return table.labels.empty() ? 0 : static_cast<std::size_t>(table.target[row]);
  };
  std::vector<std::size_t> sizes(groups.size());
  for (Index row = 0; row < table.rows(); ++row) ++sizes[class_of(row)];
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].reserve(sizes[i]);  // a vector that grows has them twice
  const auto add = [&](Index first, const auto& features) {
    for (Index i = 0; i < features.rows(); ++i) {
      RowHash hash;
      hash.add(-1, table.target[first + i]);
      add_row(features, i, hash);
      groups[class_of(first + i)].push_back({hash.value(), first + i});
    }
  };
  std::visit([&](const auto& features) { for_each_part(features, add); }, table.features);
  for (auto& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

}  // namespace

Split split_rows(const Table& table, double test_fraction, Random& random) {
  if (!(test_fraction >= 0 && test_fraction < 1)) {
    throw Error(Fault::usage,
                fmt::format("the share of test rows must be at least 0 and below 1, not {}", test_fraction));
  }
  const auto total = static_cast<std::size_t>(std::lround(test_fraction * static_cast<double>(table.rows())));
  std::vector<std::vector<Index>> groups = group_rows(table);
  const std::vector<std::size_t> share = shares(groups, test_fraction, total);
  Split split;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    random.shuffle(std::span(groups[i]));
    const auto border = groups[i].begin() + static_cast<std::ptrdiff_t>(share[i]);
    split.test.insert(split.test.end(), groups[i].begin(), border);
    split.train.insert(split.train.end(), border, groups[i].end());
  }
  if (test_fraction > 0 && split.test.empty()) {
    throw Error(Fault::usage, fmt::format("a share of {} sets none of {} aside; choose a larger share", test_fraction,
                                          counted(table.rows(), "row")));
  }
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.test.begin(), split.test.end());
  return split;
}

std::vector<std::vector<Index>> deal_rows(const TableView& table, int parts, Random& random) {
  if (parts < 1) throw Error(Fault::usage, fmt::format("rows can't be dealt into {} parts", parts));
  std::vector<std::vector<Index>> dealt(static_cast<std::size_t>(parts));
  for (std::vector<Index>& part : dealt) part.reserve(static_cast<std::size_t>(table.rows() / parts + 1));
  std::size_t next = 0;  // goes on from class to class, which keeps the parts of one size
  for (std::vector<KeyedRow>& group : groups_by_contents(table)) {
    random.shuffle(std::span(group));
    for (const KeyedRow& keyed : group) dealt[next++ % dealt.size()].push_back(keyed.row);
  }
  for (std::vector<Index>& part : dealt) std::sort(part.begin(), part.end());
  return dealt;
}

}  // namespace lipschitzlr::data
