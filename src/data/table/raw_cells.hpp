#pragma once
// One column of features while a file is read: numbers, until a cell is something else. A first text that is a date
// makes it a column of dates; another text makes it one of texts, in which a number is the text of that number ("1.0"
// and "01" are "1"), whether it stands above the first text or below. What stands for a cell in the matrix is said at
// RawColumn.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

// The cells of a column that were read so far, in a matrix of rows.
struct ColumnOfMatrix {
  double* first;
  Index stride, rows;

  double& operator[](Index row) const { return first[row * stride]; }
};

class RawCells {
 public:
  // known: its kind, if that is known; what does not fit is wrong then.
  RawCells(const KnownColumn* known, bool refuses_gaps);

  // The cells of a part of the rows (CsvRows) behind those of whole, which must outlive it: texts are looked up in
  // whole, too, and what would make this another kind of column is refused.
  explicit RawCells(const RawCells* whole);
  // can_join: False where the number of texts reaches its limit, because the order of cells then counts.
  bool can_join(const RawCells& part) const;
  void join(const RawCells& part, const ColumnOfMatrix& rows);

  // Several processes read parts of the rows at once. What decides how the cells below are read:
  struct State {
    ColumnKind kind = ColumnKind::number;
    bool has_numbers = false, has_gaps = false, countless = false;
    std::int64_t first_line = 0;  // of a text
    std::string first_text;
  };
  State state(const ColumnOfMatrix& rows) const;
  void begin_below(const State& above);
  // From cells of a part that was read as if nothing stood above it, to those of all processes: rows are those of the
  // part. Collective; all: of all rows.
  void unite(const State& all, const ColumnOfMatrix& rows, Communicator& communicator);

  ColumnKind kind() const { return kind_; }

  // The value that stands for a text that was there before.
  bool find(std::string_view text, double& value) const {
    if (kind_ != ColumnKind::text) return false;
    if (whole_ != nullptr && whole_->find(text, value)) return true;
    const auto found = places_.find(text);
    if (found == places_.end()) return false;
    value = found->second;
    return true;
  }

  // The value that stands for a cell, or what is wrong with it as the rest of a sentence "expected ...". number: what
  // the cell is as a number, if it is one.
  std::string add(std::string_view text, std::optional<double> number, std::int64_t line, const ColumnOfMatrix& above,
                  double& value);

  bool is_plain() const { return kind_ == ColumnKind::number && !has_gaps_; }

  // The first text in a column that is meant to have numbers: there are few texts and many numbers.
  struct Slip {
    std::int64_t line;
    std::string text;
  };
  std::optional<Slip> find_slip(const ColumnOfMatrix& column, Communicator* communicator = nullptr) const;

  RawColumn finish() &&;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::string add_text(std::string_view text, std::optional<double> number, double& value);
  double place_of(std::string_view text, bool is_number);
  bool is_full() const;
  void make_texts(const ColumnOfMatrix& above);
  void forget_texts(const ColumnOfMatrix& rows);

  const RawCells* whole_ = nullptr;  // of a part
  double first_place_ = 0;           // of texts_
  ColumnKind kind_ = ColumnKind::number;
  bool is_known_, is_exact_;
  bool refuses_gaps_, has_gaps_ = false;
  std::int64_t first_line_ = 0;  // of a text that made this a column of texts
  std::string first_text_;
  std::unordered_map<std::string, double, Hash, std::equal_to<>> places_;  // of all spellings
  std::vector<std::string> texts_;
  std::vector<bool> is_number_;  // by place
  bool countless_ = false;
  bool numbers_above_ = false;  // in a part of another process
};

// Whether a part that was read as if nothing stood above it would be the same below these cells; then those of both.
bool can_follow(const RawCells::State& above, const RawCells::State& part);
RawCells::State joined(const RawCells::State& above, const RawCells::State& part);

}  // namespace lipschitzlr::data
