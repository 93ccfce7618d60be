#pragma once
// Reading a table from a file or from standard input: CSV, TSV and LIBSVM auto-detected, .gz and .xz unpacked
// on the way. What does not fit is an Error (data) with file, line, column and what was expected.

#include <optional>
#include <string>
#include <string_view>

#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data {

enum class Format { detect, csv, tsv, libsvm };

struct ReadOptions {
  Format format = Format::detect;
  std::optional<char> separator = {};  // CSV: between cells; ' ' is any run of blanks. Default: detected
  // A column's name, or its number from 1 (negative: from the end). Default: the last. LIBSVM: always the first number.
  std::optional<std::string> target = {};
  bool has_target = true;  // false: every column is a feature (rows to predict)
  // Default: there is one when a cell of the first line is neither a number nor a missing value. A text in the target's
  // column alone is a header only when a number stands below it.
  std::optional<bool> header = {};
  // LIBSVM: the index of the first feature, 0 or 1. Default: 1, or 0 when there is an index 0, with a remark.
  std::optional<Index> first_index = {};
  Index columns = 0;  // LIBSVM: the least number of features (a model knows it; the file may not reach it)
  // For rows to predict: the target may be there or not. By name it is found or not; without a header there is one when
  // the table has one column more than the option columns; in LIBSVM when the first line has a label.
  bool target_may_be_missing = false;
  bool ignores_target =
      false;  // CSV: whatever stands in the target's column is passed over, and the table has no target
  bool target_is_classes = false;  // CSV: a target of numbers only has classes, too, with their texts as labels
  Index target_column = -1;        // with target_may_be_missing: where that one column stands, from 0; -1: the last
};

// path "-" is standard input; pipes are as good as files. Throws Error: (data) for what is wrong with the file, (usage)
// for a target that isn't there. A CSV target with a cell that is not a number is a class target: the label of each
// cell is its text as it is in the file ("01" is not "1"), sorted as strings; empty cells are errors, and so is a text
// below many different numbers. So is a target of a few whole numbers from 2^53 on: they are identifiers. LIBSVM
// targets are numeric. Names and labels must be UTF-8, names of features unique.
Table read_table(const std::string& path, const ReadOptions& options = {});

// The same from memory; name is for error messages. Used by the fuzzers and for the embedded data sets.
Table parse_table(std::string_view content, const std::string& name, const ReadOptions& options = {});

}  // namespace lipschitzlr::data
