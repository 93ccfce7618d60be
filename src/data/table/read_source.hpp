#pragma once
// What read_table and parse_table share. The size of the blocks is a parameter so that tests and fuzzers can cut a
// small table into many.

#include <memory>
#include <string>

#include "data/table/part_parser.hpp"
#include "data/table/part_state.hpp"
#include "data/table/source.hpp"
#include "lipschitzlr/data/table/packed.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

// Rows of a CSV go to the sink, and the table then has none.
Table read_table(const std::string& path, const ReadOptions& options, const RowSink& sink);

// What text that is CSV looks like: neither JSON Lines nor LIBSVM.
bool is_csv(std::string_view first_lines, const ReadOptions& options);
// For a part of a table that begins with these lines: they are only looked at.
std::unique_ptr<PartReading> begin_reading(std::string_view first_lines, std::uint64_t size, const std::string& file,
                                           const ReadOptions& options);
bool is_packed(const std::string& path);
// With a communicator the rows of this process; collective.
Table table_of(const PackedTable& packed, const std::string& name, const ReadOptions& options,
               Communicator* communicator = nullptr);

Table read_source(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options,
                  std::size_t block_size);

}  // namespace lipschitzlr::data
