#pragma once
// A packed table: numbers as they are in memory, with their names, which is read without parsing and from any row on.
// Made by pack_table in one pass over the text, of which it holds a block of rows and the target.
//   16 bytes  "lrdata\r\n", the version as 4 bytes, 4 bytes of 0
//   blocks    of block_rows rows, row by row, each number a double; the last may have fewer
//   targets   a double for each row, where there is a target: a number, or the place of its class among the labels
//   sums      8 bytes for each block, one for the targets: their checksums
//   header    JSON: rows, columns, block_rows, names, target, labels, sums of the columns (base/column_sums.hpp), and
//             where columns were left out their places
//   24 bytes  the size of the header, the checksum of all from the sums on and of the first 16 bytes, "lrdata\r\n"
// All numbers have their low byte first. Whatever is cut off or changed is refused: the sizes must add up to that of
// the file, the header's sum is checked when it is opened, that of a block when one of its rows is first read, together
// with its numbers, which must be finite.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lipschitzlr/base/streamed_rows.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

class PackedTable {
 public:
  // Both throw Error (data) that begins with the name. The bytes must outlive it.
  static PackedTable open(const std::string& path);
  static PackedTable in_memory(std::string_view bytes, const std::string& name);

  // The table without its features, and with the target, which is read here.
  Table description() const;
  // Of the features in memory.
  std::uint64_t bytes() const;
  // The features, read when they are asked for: throws Error (data) then for a block that has changed, or when the file
  // is written to meanwhile. Keeps the file open; the system reads ahead, and no part of the file stays in the memory
  // of the process.
  StreamedRows<double> rows() const;
  StreamedRows<double> rows(Index first, Index count) const;
  // The rows [first, second) of one of several processes: whole blocks, if there are enough.
  std::pair<Index, Index> share(int rank, int size) const;
  std::uint64_t bytes_read() const;  // so far

 private:
  struct File;
  explicit PackedTable(std::shared_ptr<File> file) : file_(std::move(file)) {}
  std::shared_ptr<File> file_;
};

struct PackReport {
  Index rows = 0, columns = 0;
  std::uint64_t bytes = 0;
};

// What the cells of a CSV file take in memory, estimated from its first lines; 0: it is another file, or compressed.
std::uint64_t csv_memory(const std::string& path, const ReadOptions& options = {});

// From a table of numbers (CSV is not held in memory, other formats are) to a packed one, which is complete or not
// there. Throws Error (data) for cells of features that are no numbers, Error (usage) for sparse tables.
PackReport pack_table(const std::string& from, const std::string& to, const ReadOptions& options = {});

}  // namespace lipschitzlr::data
