#pragma once
// A dense matrix whose rows are made when they are read, a block at a time, in a buffer of the reader: the scaled rows
// of a table that is not copied (data/table/scaling.hpp), or rows of a file (data/table/packed.hpp). What is computed
// from the blocks has the bits that it would have from the matrix in memory.

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lipschitzlr/base/column_sums.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/parallel.hpp"

namespace lipschitzlr {

template <class Number>
class StreamedRows {
 public:
  using Scalar = Number;
  // Writes rows one after the other, without gaps: those that are numbered, or first, first + 1, ... where numbers is
  // null. Called by several threads at once.
  using Source = std::function<void(const Index* numbers, Index first, Index count, Scalar* to)>;

  StreamedRows() = default;
  // last: the number in the last column of every row, where it is the same.
  StreamedRows(Index rows, Index columns, Source source, std::optional<Scalar> last = {})
      : rows_(rows), columns_(columns), source_(std::move(source)), last_(last) {}

  void swap(StreamedRows& other) { std::swap(*this, other); }

  Index rows() const { return numbers_ ? static_cast<Index>(numbers_->size()) : rows_; }
  Index cols() const { return columns_; }
  Index size() const { return rows() * cols(); }

  // Why not all of them may be in memory at once; empty: they may. What is made of them has the same obstacle.
  const std::string& obstacle() const {
    static const std::string none;
    return obstacle_ ? *obstacle_ : none;
  }
  StreamedRows with_obstacle(std::string sentence) const {
    StreamedRows marked = *this;
    marked.obstacle_ = sentence.empty() ? nullptr : std::make_shared<const std::string>(std::move(sentence));
    return marked;
  }

  StreamedRows with_column_sums(ColumnSums sums) const {
    StreamedRows known = *this;
    known.memo_ = std::make_shared<Memo>();
    known.memo_->sums = std::move(sums);
    return known;
  }

  void fill(Index first, Index count, Scalar* to) const {
    if (numbers_) {
      source_(numbers_->data() + first, 0, count, to);
    } else {
      source_(nullptr, first, count, to);
    }
  }
  void fill(std::span<const Index> rows, Scalar* to) const {
    if (!numbers_) return source_(rows.data(), 0, static_cast<Index>(rows.size()), to);
    std::vector<Index> numbers(rows.begin(), rows.end());
    for (Index& number : numbers) number = (*numbers_)[static_cast<std::size_t>(number)];
    source_(numbers.data(), 0, static_cast<Index>(numbers.size()), to);
  }
  // As a source is asked.
  void fill(const Index* numbers, Index first, Index count, Scalar* to) const {
    if (numbers == nullptr) return fill(first, count, to);
    fill(std::span(numbers, static_cast<std::size_t>(count)), to);
  }

  // Calls visit(first row, rows) for all rows in their order, in blocks that stay in a cache.
  template <class Visit>
  void for_each_block(const Visit& visit) const {
    const Index height = std::max(kRowsTogether, kNumbersTogether / std::max<Index>(1, cols()));
    DenseMatrix<Scalar> block(std::min(height, rows()), cols());
    for (Index first = 0; first < rows(); first += height) {
      const Index count = std::min(height, rows() - first);
      fill(first, count, block.data());
      visit(first, DenseView<Scalar>(block.data(), count, cols()));
    }
  }

  // The given rows, in their order.
  StreamedRows take(std::span<const Index> rows) const {
    StreamedRows taken = *this;
    auto numbers = std::make_shared<std::vector<Index>>(rows.begin(), rows.end());
    if (numbers_) {
      for (Index& number : *numbers) number = (*numbers_)[static_cast<std::size_t>(number)];
    }
    taken.numbers_ = std::move(numbers);
    taken.memo_ = std::make_shared<Memo>();
    return taken;
  }

  // The given columns, in their order.
  StreamedRows take_columns(std::vector<Index> columns) const {
    const auto count = static_cast<Index>(columns.size());
    const auto fill = [all = *this, columns = std::move(columns)](const Index* numbers, Index first, Index rows,
                                                                  Scalar* to) {
      const Index width = static_cast<Index>(columns.size());
      DenseMatrix<Scalar> made(std::min(rows, kRowsTogether), all.cols());
      for (Index done = 0; done < rows; done += kRowsTogether) {
        const Index more = std::min(rows - done, kRowsTogether);
        all.fill(numbers == nullptr ? nullptr : numbers + done, first + done, more, made.data());
        for (Index i = 0; i < more; ++i) {
          for (Index j = 0; j < width; ++j) to[(done + i) * width + j] = made(i, columns[static_cast<std::size_t>(j)]);
        }
      }
    };
    return StreamedRows(rows(), count, fill).with_obstacle(obstacle());
  }

  Vector<Scalar> col(Index column) const {
    if (last_ && column == cols() - 1) return Vector<Scalar>::Constant(rows(), *last_);
    Vector<Scalar> values(rows());
    for_each_block([&](Index first, const auto& block) { values.segment(first, block.rows()) = block.col(column); });
    return values;
  }

  // Over all rows, each of weight 1: known, or computed in two passes when they are first asked for. Copies share them.
  const ColumnSums& column_sums() const {
    const std::scoped_lock lock(memo_->mutex);
    if (!memo_->sums) {
      memo_->sums = ColumnSums::of(cols(), static_cast<double>(rows()), [this](const auto& visit) {
        this->for_each_block([&](Index, const DenseView<Scalar>& block) {
          for (Index row = 0; row < block.rows(); ++row) {
            if constexpr (std::is_same_v<Scalar, double>) {  // a cast would keep Eigen from vectorising
              visit(1.0, block.row(row).array());
            } else {
              visit(1.0, block.row(row).array().template cast<double>());
            }
          }
        });
      });
    }
    return *memo_->sums;
  }

  // All of them, in memory; on the threads of the pool when there is one. Throws Error (usage) with the obstacle where
  // there is one.
  DenseMatrix<Scalar> dense(ThreadPool* pool = nullptr) const {
    if (!obstacle().empty()) throw Error(Fault::usage, obstacle());
    DenseMatrix<Scalar> made(rows(), cols());
    const auto task = [&](std::size_t number) {
      const Index first = static_cast<Index>(number) * kRowsOfTask;
      fill(first, std::min(kRowsOfTask, rows() - first), made.data() + first * cols());
    };
    const auto tasks = static_cast<std::size_t>((rows() + kRowsOfTask - 1) / kRowsOfTask);
    if (pool != nullptr) {
      pool->run(tasks, task);
    } else {
      for (std::size_t number = 0; number < tasks; ++number) task(number);
    }
    return made;
  }

 private:
  static constexpr Index kRowsTogether = 64, kNumbersTogether = 16384, kRowsOfTask = 4096;
  struct Memo {
    std::mutex mutex;
    std::optional<ColumnSums> sums;
  };

  Index rows_ = 0, columns_ = 0;
  Source source_;
  std::optional<Scalar> last_;
  std::shared_ptr<const std::vector<Index>> numbers_;  // of the source; null: all
  std::shared_ptr<const std::string> obstacle_;
  std::shared_ptr<Memo> memo_ = std::make_shared<Memo>();
};

// Calls visit(first row, rows) for all rows in their order: for a matrix in memory once, for streamed rows by blocks.
template <class Matrix, class Visit>
void for_each_part(const Matrix& matrix, const Visit& visit) {
  visit(Index{0}, matrix);
}

template <class Scalar, class Visit>
void for_each_part(const StreamedRows<Scalar>& rows, const Visit& visit) {
  rows.for_each_block(visit);
}

}  // namespace lipschitzlr
