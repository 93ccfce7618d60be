#pragma once
// CSV, TSV and blank-separated text into a dense table, in one pass and straight into the matrix.

#include "data/table/csv_state.hpp"
#include "data/table/part_parser.hpp"

namespace lipschitzlr::data {

class CsvReading : public PartParser {
 public:
  // Of a table that several processes read, what this one reads: CsvRows.
  virtual void begin(const std::string& file, bool within, const CsvState* above) = 0;
  virtual void expect_lines() const = 0;  // throws Error (data) when the last file has none
  virtual CsvState state() const = 0;
  virtual void unite(const CsvState& all, Communicator& communicator) = 0;
};

// For the text that begins with first_block, which is only looked at. expected_size is the size of the text in bytes,
// if known, else 0: with it the matrix is allocated once. Rows can go to a sink unless options.raw: a text may tell
// what the cells above it are.
std::unique_ptr<CsvReading> parse_csv(std::string_view first_block, std::uint64_t expected_size,
                                      const std::string& file, const ReadOptions& options, RowSink sink = {});

}  // namespace lipschitzlr::data
