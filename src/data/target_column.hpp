#pragma once
// The target column of a CSV while it is read: numbers as long as all cells are numbers, classes from the first text
// on. Whole numbers among the classes are labels too, written the short way ("01" and "1.0" are "1"); fractions are
// not.

#include <string>
#include <unordered_map>

#include "lipschitzlr/data/table.hpp"

namespace lipschitzlr::data {

class TargetColumn {
 public:
  void reserve(Index rows);

  // Each adds one row, or returns what is wrong with it as the rest of a sentence "expected ...".
  std::string add_number(double value);
  std::string add_text(const std::string& text);

  // The target, and the labels in ascending order when it has classes.
  void finish(Table& table) &&;

 private:
  void append(double value);
  std::string append_label(const std::string& label);
  void make_labels();

  Vector<double> values_;
  Index rows_ = 0;
  bool has_fraction_ = false;
  std::unordered_map<std::string, Index> labels_;  // numbered as they come; empty as long as all cells are numbers
};

}  // namespace lipschitzlr::data
