#include "lipschitzlr/data/table/read.hpp"

#include <fmt/format.h>

#include <new>

#include "data/table/csv.hpp"
#include "data/table/json_lines.hpp"
#include "data/table/libsvm.hpp"
#include "data/table/lines.hpp"
#include "data/table/numpy.hpp"
#include "data/table/parts.hpp"
#include "data/table/read_error.hpp"
#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kLinesToLookAt = 3;

void parse_all(PartParser& parser, std::string_view first, LineBlocks& blocks) {
  for (std::string_view block = first; !block.empty(); block = blocks.next()) parser.parse(block);
}

bool is_libsvm(std::string_view first, const ReadOptions& options) {
  return options.format == Format::libsvm ||
         (options.format == Format::detect && !options.separator && looks_like_libsvm(first));
}

bool is_json_lines(std::string_view first, const ReadOptions& options) {
  return options.format == Format::jsonl || (options.format == Format::detect && looks_like_json_lines(first));
}

void refuse_columns_of_libsvm(const ReadOptions& options, const std::string& name) {
  if (options.ignore.empty() && options.only.empty() && (options.known.empty() || options.target_may_be_missing))
    return;
  throw Error(Fault::usage,
              fmt::format("{}: --ignore, --only and --categorical are for tables with columns, not LIBSVM", name));
}

// The parts behind the first, text like it.
void parse_parts(PartParser& parser, const std::vector<std::string>& paths) {
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const std::unique_ptr<ByteSource> text = unpack(open_file(paths[i]), paths[i]);
    LineBlocks blocks(*text, paths[i]);
    parser.begin_part(paths[i]);
    parse_all(parser, blocks.next(), blocks);
  }
}

Table read_text(ByteSource& text, const std::string& name, const ReadOptions& options, std::size_t block_size,
                const std::vector<std::string>& parts) {
  LineBlocks blocks(text, name, block_size);
  const std::string_view first = blocks.next(kLinesToLookAt);
  if (first.empty()) fail_in_file(name, "the file is empty: expected a table");
  const bool is_json = is_json_lines(first, options);
  if (!is_json && is_libsvm(first, options)) {
    refuse_columns_of_libsvm(options, name);
    if (parts.size() > 1) fail_in_file(name, "several files make one table as CSV or JSON Lines, not as LIBSVM");
    return read_libsvm(first, blocks, name, options);
  }
  // Parts are about of one size.
  const std::uint64_t size = text.expected_size() * std::max<std::size_t>(parts.size(), 1);
  const std::unique_ptr<PartParser> parser =
      is_json ? parse_json_lines(name, options) : parse_csv(first, size, name, options);
  parse_all(*parser, first, blocks);
  parse_parts(*parser, parts);
  return parser->finish();
}

Table read_first(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options,
                 std::size_t block_size, const std::vector<std::string>& parts) {
  try {
    std::unique_ptr<ByteSource> content = unpack(std::move(source), name);
    std::string first_bytes;
    content = peek(std::move(content), first_bytes);
    const bool is_array = looks_like_npy(first_bytes) || looks_like_zip(first_bytes);
    if (is_array && parts.size() > 1)
      fail_in_file(name, "several files make one table as CSV or JSON Lines, not as arrays");
    if (is_array || options.format == Format::npy) return read_numpy(*content, name, options);
    return read_text(*content, name, options, block_size, parts);
  } catch (const std::bad_alloc&) {
    fail_in_file(name, "the table does not fit into memory");
  }
}

}  // namespace

Table read_source(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options,
                  std::size_t block_size) {
  return read_first(std::move(source), name, options, block_size, {});
}

Table read_table(const std::string& path, const ReadOptions& options) {
  const std::vector<std::string> parts = parts_of(path);
  return read_first(open_file(parts.front()), display_name(parts.front()), options, LineBlocks::kBlockSize, parts);
}

Table parse_table(std::string_view content, const std::string& name, const ReadOptions& options) {
  return read_source(open_memory(content), name, options, LineBlocks::kBlockSize);
}

}  // namespace lipschitzlr::data
