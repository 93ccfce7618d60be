#pragma once
// The target column of a CSV while it is read: numbers as long as all cells are numbers, classes from the first text
// on. Then the label of every cell is its text as it is in the file, so that "01", "1" and "1.0" are three classes.

#include <string>
#include <unordered_map>
#include <vector>

#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data {

class TargetColumn {
 public:
  // With only_classes, numbers are labels from the start.
  explicit TargetColumn(bool only_classes)
      : kind_(only_classes ? Kind::classes : Kind::few_numbers), has_word_(only_classes) {}

  void reserve(Index rows);  // more

  // That of a part of the rows (CsvRows), rows_between rows behind those of whole, for which it has room, and which
  // must outlive it. Classes and numbers that are few are looked up in whole, too; what would make this another kind of
  // target is refused.
  TargetColumn(const TargetColumn& whole, Index rows_between);
  bool can_have_parts() const { return kind_ != Kind::classes || has_word_; }
  bool can_join(const TargetColumn& part) const;
  void join(const TargetColumn& part);

  // Each adds one row, or returns what is wrong with it as the rest of a sentence "expected ...".
  std::string add_number(const std::string& text, double value);
  std::string add_text(const std::string& text);

  // Several processes read parts of the rows at once. What decides how the rows below are read:
  struct State;
  State state() const;
  void begin_below(const State& above);
  // From a part that was read as if nothing stood above it, to one of the target of all processes.
  void unite(const State& all);

  // The target, and the labels in ascending order when it has classes.
  void finish(Table& table) &&;

  // Few different numbers may still turn out to be labels, so their texts are kept; many are a quantity.
  enum class Kind { few_numbers, many_numbers, classes };

 private:
  struct Place {
    double number;
    bool is_new;
  };

  void append(double value);
  Place place_of(const std::string& text);
  static bool are_many(std::size_t numbers, bool has_fraction);  // different ones
  void forget_many();
  std::string append_label(const std::string& label);
  void forget_texts();
  void sort_labels(Table& table);

  const TargetColumn* whole_ = nullptr;  // of a part
  Kind kind_;
  Vector<double> values_;    // of many numbers they themselves, else the places of the texts
  double* first_ = nullptr;  // of the values; those of a part are in the whole's
  Index rows_ = 0;
  Index first_place_ = 0;                          // of a part: that of its own texts
  std::unordered_map<std::string, Index> places_;  // of the different texts, as they come
  std::vector<double> numbers_;                    // by place, of few numbers
  bool has_fraction_ = false;
  bool has_identifier_ = false;  // digits that a double does not hold
  bool has_word_;                // a text that is more than a missing value, or meant as one
  bool has_rows_above_ = false;  // in a part of another process
};

struct TargetColumn::State {
  Kind kind = Kind::few_numbers;
  bool has_rows = false, has_fraction = false, has_identifier = false, has_word = false;
  std::vector<std::string> texts;  // by place, unless numbers are many
  std::vector<double> numbers;     // by place, of few numbers

  // Whether a part that was read as if nothing stood above it would be the same below these rows.
  bool can_go_on_with(const State& part) const;
  void go_on_with(const State& part);
};

}  // namespace lipschitzlr::data
