#pragma once
// Reading a table from a file, from several or from standard input: CSV, TSV, LIBSVM, JSON Lines and arrays of NumPy
// auto-detected, .gz, .xz and .zst unpacked on the way. What does not fit is an Error (data) with file, line, column
// and what was expected.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data {

enum class Format { detect, csv, tsv, libsvm, jsonl, npy };

// A column whose kind is known before the file is read.
struct KnownColumn {
  std::string name;  // or its number, as of a target
  ColumnKind kind = ColumnKind::number;
  bool exact = false;  // of text: a number is the text it stands as, so that "01" is not "1"
};

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
  // CSV and JSON Lines. Cells of features may be gaps, texts, dates and numbers with a decimal comma, for an Encoder
  // (Table.raw_columns); false: all must be numbers.
  bool raw = false;
  bool refuses_gaps = false;             // with raw: a gap is an error
  std::vector<std::string> ignore = {};  // features to leave out, whatever stands in them: names or numbers
  std::vector<std::string> only = {};    // features to read, all others left out
  std::vector<KnownColumn> known = {};   // with raw
  // A model's columns are known: others are left out, and of these some may be missing.
  bool only_known = false;
  bool known_by_place = false;  // known is by place among the features of the file, not by name
  unsigned threads = 0;         // that parse a CSV; 0: one per core. The table is the same for any number
  // Bytes. The features of a packed table (packed.hpp) that take more are read block by block, wherever they are used.
  // Default: they never do.
  std::optional<std::uint64_t> memory = {};
  int copies = 1;  // of the features that the caller will have at a time
};

// path "-" is standard input; pipes are as good as files. A path that is no file but a pattern of the shell, such as
// "part-*.csv.gz", is all files with such a name, in their order, as one table with one header. Throws Error: (data)
// for what is wrong with the file, (usage) for a target that isn't there. A CSV target with a cell that is not a number
// is a class target: the label of each cell is its text as it is in the file ("01" is not "1"), sorted as strings;
// empty cells are errors, and so is a text below many different numbers. So is a target of a few whole numbers from
// 2^53 on: they are identifiers. LIBSVM targets are numeric. Names and labels must be UTF-8, names of features unique.
Table read_table(const std::string& path, const ReadOptions& options = {});

// Several processes read a table together, each its part: its files of a pattern, or where there are fewer files than
// processes its range of bytes, or its row blocks of a packed table. Parts follow one another in order of rank;
// columns, texts and labels are those of the whole table, to which the errors belong as well. All processes need the
// same pattern and the same files; rank 0 says which and how large they are. Nothing when this can't be done: for
// compressed files that are fewer than the processes, and formats other than CSV and JSON Lines. Collective; an Error
// of one is one of all.
std::optional<Table> read_part(const std::string& path, const ReadOptions& options, Communicator& communicator);

// The same from memory; name is for error messages. Used by the fuzzers and for the embedded data sets.
Table parse_table(std::string_view content, const std::string& name, const ReadOptions& options = {});

}  // namespace lipschitzlr::data
