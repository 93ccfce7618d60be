#include "lipschitzlr/data/table/read.hpp"

#include <new>

#include "data/table/csv.hpp"
#include "data/table/libsvm.hpp"
#include "data/table/lines.hpp"
#include "data/table/read_error.hpp"
#include "data/table/read_source.hpp"

namespace lipschitzlr::data {
namespace {

Table read_blocks(LineBlocks& blocks, std::uint64_t expected_size, const std::string& name,
                  const ReadOptions& options) {
  constexpr std::size_t kLinesToLookAt = 3;
  const std::string_view first = blocks.next(kLinesToLookAt);
  if (first.empty()) fail_in_file(name, "the file is empty: expected a table");
  const bool is_libsvm = options.format == Format::libsvm ||
                         (options.format == Format::detect && !options.separator && looks_like_libsvm(first));
  if (is_libsvm) return read_libsvm(first, blocks, name, options);
  return read_csv(first, blocks, expected_size, name, options);
}

}  // namespace

Table read_source(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options,
                  std::size_t block_size) {
  try {
    const std::unique_ptr<ByteSource> text = unpack(std::move(source), name);
    LineBlocks blocks(*text, name, block_size);
    return read_blocks(blocks, text->expected_size(), name, options);
  } catch (const std::bad_alloc&) {
    fail_in_file(name, "the table does not fit into memory");
  }
}

Table read_table(const std::string& path, const ReadOptions& options) {
  return read_source(open_file(path), display_name(path), options, LineBlocks::kBlockSize);
}

Table parse_table(std::string_view content, const std::string& name, const ReadOptions& options) {
  return read_source(open_memory(content), name, options, LineBlocks::kBlockSize);
}

}  // namespace lipschitzlr::data
