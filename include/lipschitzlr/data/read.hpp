#pragma once
// Reading a table from a file or from standard input: CSV, TSV and LIBSVM told apart by looking, .gz and .xz unpacked
// on the way. What does not fit is an Error (data) with file, line, column and what was expected.

#include <optional>
#include <string>
#include <string_view>

#include "lipschitzlr/data/table.hpp"

namespace lipschitzlr::data {

enum class Format { detect, csv, tsv, libsvm };

struct ReadOptions {
  Format format = Format::detect;
  std::optional<std::string>
      target;                  // a column's name, or its number from 1 (negative: from the end); default: the last
  bool has_target = true;      // false: every column is a feature (rows to predict)
  std::optional<bool> header;  // default: there is one when a cell of the first line is not a number
  Index columns = 0;           // LIBSVM: the least number of features (a model knows it; the file may not reach it)
};

// path "-" is standard input. A CSV target with a non-numeric cell is a class target; LIBSVM targets are numeric.
Table read_table(const std::string& path, const ReadOptions& options = {});

// The same from memory; name stands in error messages. Used by the fuzzers and for the embedded data sets.
Table parse_table(std::string_view content, const std::string& name, const ReadOptions& options = {});

}  // namespace lipschitzlr::data
