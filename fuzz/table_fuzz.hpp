#pragma once
// What the fuzzers of table readers share: a table read in one piece and in tiny blocks, by one thread and by several,
// must be the same table, or the same error. An Error is a fine answer to bad input; anything else that leaves the
// reader is a finding.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "data/table/read_source.hpp"
#include "data/table/source.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {

struct Outcome {
  Table table;
  std::string error;
};

inline Outcome try_to_read(std::string_view content, const ReadOptions& options, std::size_t block_size) {
  Outcome outcome;
  try {
    outcome.table = read_source(open_memory(content), "fuzz", options, block_size);
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

inline void demand(bool truth) {
  if (!truth) std::abort();
}

inline DenseMatrix<double> stored_values(const Features& features) {
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&features)) return *dense;
  const auto& sparse = std::get<SparseMatrix<double>>(features);
  return Eigen::Map<const DenseMatrix<double>>(sparse.valuePtr(), 1, sparse.nonZeros());
}

inline void check_table(const Table& table, const ReadOptions& options) {
  demand(table.rows() > 0 && table.columns() > 0);
  demand(static_cast<Index>(table.feature_names.size()) == table.columns());
  demand(table.target.size() == 0 || table.target.size() == table.rows());
  if (!options.target_may_be_missing) demand(table.target.size() == (options.has_target ? table.rows() : 0));
  demand(table.target.allFinite() && stored_values(table.features).allFinite());
  for (double target : table.target) {
    if (table.is_classified()) demand(target >= 0 && target < static_cast<double>(table.labels.size()));
  }
}

inline void check_reading(std::string_view content, const ReadOptions& options) {
  constexpr std::size_t kTinyBlock = 5;
  constexpr std::size_t kWholeInput = 4096;  // the usual block is larger, and clearing it the slowest part of a run
  const Outcome whole = try_to_read(content, options, kWholeInput);
  if (whole.error.empty()) check_table(whole.table, options);
  if (options.format == Format::detect) return;  // what the first lines look like depends on how many are seen
  ReadOptions alone = options;
  alone.threads = 1;
  const Outcome pieces = try_to_read(content, options, kTinyBlock);
  demand(try_to_read(content, alone, kTinyBlock).error == pieces.error);
  demand(whole.error.empty() == pieces.error.empty());
  if (!whole.error.empty()) return;
  demand(whole.table.target == pieces.table.target && whole.table.labels == pieces.table.labels);
  demand(whole.table.columns() == pieces.table.columns());
  demand(stored_values(whole.table.features) == stored_values(pieces.table.features));
}

}  // namespace lipschitzlr::data
