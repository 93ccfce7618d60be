#include "lipschitzlr/data/table/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "base/text.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

// The rows of all processes, numbered in order of rank. What is chosen of them is chosen by every process alike; each
// then takes those that are its own.
class AllRows {
 public:
  AllRows(const TableView& table, Communicator* communicator) : here_(table.rows()), total_(here_) {
    if (communicator == nullptr) return;
    const std::vector<double> counts = all_gather(communicator, {static_cast<double>(here_)});
    first_ = static_cast<Index>(std::accumulate(counts.begin(), counts.begin() + communicator->rank(), 0.0));
    total_ = static_cast<Index>(std::accumulate(counts.begin(), counts.end(), 0.0));
  }
  Index first() const { return first_; }
  Index total() const { return total_; }

  // In place: ascending, by their numbers in this process.
  void keep_own(std::vector<Index>& rows) const {
    std::erase_if(rows, [this](Index row) { return row < first_ || row >= first_ + here_; });
    for (Index& row : rows) row -= first_;
    std::sort(rows.begin(), rows.end());
  }

 private:
  Index here_, first_ = 0, total_;
};

// The rows of each class; one group of all rows when there are no classes.
std::vector<std::vector<Index>> group_rows(const TableView& table, Index total, Communicator* communicator) {
  std::vector<std::vector<Index>> groups(std::max<std::size_t>(table.labels.size(), 1));
  if (table.labels.empty()) {
    groups.front().resize(static_cast<std::size_t>(total));
    std::iota(groups.front().begin(), groups.front().end(), Index{0});
    return groups;
  }
  Index row = 0;
  for (const double target : all_gather(communicator, {table.target.begin(), table.target.end()})) {
    groups[static_cast<std::size_t>(target)].push_back(row++);
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

void gather_rows(Communicator* communicator, std::vector<KeyedRow>& rows) {
  static_assert(std::is_trivially_copyable_v<KeyedRow>);
  if (communicator == nullptr) return;
  const auto* const bytes = reinterpret_cast<const char*>(rows.data());
  std::vector<KeyedRow> gathered;
  for (const std::string& part : gather_bytes(communicator, {bytes, rows.size() * sizeof(KeyedRow)})) {
    if (part.empty()) continue;
    const std::size_t before = gathered.size();
    gathered.resize(before + part.size() / sizeof(KeyedRow));
    std::memcpy(gathered.data() + before, part.data(), part.size());
  }
  rows.swap(gathered);
}

// The rows of each class in an order that follows from what they hold; equal ones stay as they are.
std::vector<std::vector<KeyedRow>> groups_by_contents(const TableView& table, const AllRows& all,
                                                      Communicator* communicator) {
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
      groups[class_of(first + i)].push_back({hash.value(), all.first() + first + i});
    }
  };
  std::visit([&](const auto& features) { for_each_part(features, add); }, table.features);
  for (auto& group : groups) {
    if (communicator != nullptr) gather_rows(communicator, group);
    std::sort(group.begin(), group.end());
  }
  return groups;
}

}  // namespace

Split split_rows(const Table& table, double test_fraction, Random& random, Communicator* communicator) {
  if (!(test_fraction >= 0 && test_fraction < 1)) {
    throw Error(Fault::usage,
                fmt::format("the share of test rows must be at least 0 and below 1, not {}", test_fraction));
  }
  const AllRows all(table, communicator);
  const auto total = static_cast<std::size_t>(std::lround(test_fraction * static_cast<double>(all.total())));
  std::vector<std::vector<Index>> groups = group_rows(table, all.total(), communicator);
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
                                          counted(all.total(), "row")));
  }
  all.keep_own(split.train);
  all.keep_own(split.test);
  return split;
}

std::vector<std::vector<Index>> deal_rows(const TableView& table, int parts, Random& random,
                                          Communicator* communicator) {
  if (parts < 1) throw Error(Fault::usage, fmt::format("rows can't be dealt into {} parts", parts));
  std::vector<std::vector<Index>> dealt(static_cast<std::size_t>(parts));
  const AllRows all(table, communicator);
  for (std::vector<Index>& part : dealt) part.reserve(static_cast<std::size_t>(all.total() / parts + 1));
  std::size_t next = 0;  // goes on from class to class, which keeps the parts of one size
  for (std::vector<KeyedRow>& group : groups_by_contents(table, all, communicator)) {
    random.shuffle(std::span(group));
    for (const KeyedRow& keyed : group) dealt[next++ % dealt.size()].push_back(keyed.row);
  }
  for (std::vector<Index>& part : dealt) all.keep_own(part);
  return dealt;
}

}  // namespace lipschitzlr::data
