#include <fmt/format.h>

#include <fstream>

#include "base/json.hpp"
#include "data/table/packed_format.hpp"
#include "data/table/parts.hpp"
#include "data/table/read_error.hpp"
#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/table/packed.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kBlockNumbers = 1 << 15;  // of a block, or one row

class PackedWriter {
 public:
  explicit PackedWriter(const std::string& path) : file_(path) {
    if (std::endian::native != std::endian::little) {
      throw Error(Fault::usage, "packed tables can't be made on a machine that stores the high byte first");
    }
    file_.write(packed_start());
  }

  void add(const double* rows, Index count, Index columns) {
    if (block_rows_ == 0) {
      columns_ = columns;
      column_sums_ = ColumnSums(columns);
      block_rows_ = std::max<Index>(1, static_cast<Index>(kBlockNumbers) / columns);
    }
    rows_ += count;
    for (Index row = 0; row < count; ++row) column_sums_.add(1, row_at(rows + row * columns));
    const auto whole = static_cast<std::size_t>(block_rows_ * columns_);
    const double* const end = rows + count * columns_;
    while (rows != end) {
      const auto taken = std::min(whole - block_.size(), static_cast<std::size_t>(end - rows));
      block_.insert(block_.end(), rows, rows + taken);
      rows += taken;
      if (block_.size() == whole) write_block();
    }
  }

  PackReport finish(const Table& table) {
    if (!block_.empty()) write_block();
    const bool summed = add_left();
    block_.assign(table.target.begin(), table.target.end());
    write_block();  // with no target an empty one
    nlohmann::json header = {{"rows", rows_},
                             {"columns", columns_},
                             {"block_rows", block_rows_},
                             {"has_target", table.target.size() > 0},
                             {"names", table.feature_names},
                             {"has_names", table.has_names},
                             {"target_name", table.target_name},
                             {"target_column", table.target_column},
                             {"labels", table.labels}};
    if (summed) header["sums"] = to_json(column_sums_);
    if (!table.places.empty()) header["places"] = table.places, header["width"] = table.width;
    const std::string end = packed_end(std::move(sums_), header.dump());
    file_.write(end);
    file_.commit();
    return {rows_, columns_, kPackedStart + written_ + end.size()};
  }

 private:
  Eigen::Map<const ColumnSums::Row> row_at(const double* row) const { return {row, columns_}; }

  // The second pass of the sums, over what is written; false where that can't be read, or a sum is no number.
  bool add_left() {
    std::ifstream file(file_.part(), std::ios::binary);
    file.seekg(kPackedStart);
    const ColumnSums::Row mean = column_sums_.sum / static_cast<double>(rows_);
    std::vector<double> rows(static_cast<std::size_t>(block_rows_ * columns_));
    for (Index row = 0; row < rows_; row += block_rows_) {
      const Index count = std::min(block_rows_, rows_ - row);
      if (!file.read(reinterpret_cast<char*>(rows.data()),
                     count * columns_ * static_cast<std::streamsize>(sizeof(double)))) {
        return false;
      }
      for (Index i = 0; i < count; ++i) column_sums_.add_left(1, row_at(rows.data() + i * columns_), mean);
    }
    return column_sums_.sum.isFinite().all() && column_sums_.magnitude.isFinite().all() &&
           column_sums_.left.isFinite().all() && column_sums_.squares.isFinite().all();
  }

  static nlohmann::json to_json(const ColumnSums& sums) {
    nlohmann::json json;
    for (const auto& [name, member] : kPackedSums) {
      const ColumnSums::Row& row = sums.*member;
      json[name] = std::vector<double>(row.begin(), row.end());
    }
    return json;
  }

  void write_block() {
    const std::string_view bytes = bytes_of(block_.data(), block_.size());
    append_number(sums_, checksum_of(bytes));
    file_.write(bytes);
    written_ += bytes.size();
    block_.clear();
  }

  AtomicFile file_;
  Index rows_ = 0, columns_ = 0, block_rows_ = 0;
  std::vector<double> block_;
  std::string sums_;
  ColumnSums column_sums_;
  std::uint64_t written_ = 0;
};

}  // namespace

PackReport pack_table(const std::string& from, const std::string& to, const ReadOptions& options) {
  ReadOptions numbers = options;
  numbers.raw = false;
  PackedWriter writer(to);
  const RowSink sink = [&](const double* rows, Index count, Index columns) { writer.add(rows, count, columns); };
  const Table table = read_table(from, numbers, sink);
  if (table.rows() > 0) {
    const auto* const dense = std::get_if<DenseMatrix<double>>(&table.features);
    if (dense == nullptr) {
      throw Error(Fault::usage, fmt::format("{}: a packed table is dense; sparse ones (LIBSVM) are read as they are",
                                            display_name(from)));
    }
    sink(dense->data(), dense->rows(), dense->cols());
  }
  return writer.finish(table);
}

}  // namespace lipschitzlr::data
