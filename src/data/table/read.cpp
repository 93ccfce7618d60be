#include "lipschitzlr/data/table/read.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <new>

#include "base/text.hpp"
#include "data/table/csv.hpp"
#include "data/table/json_lines.hpp"
#include "data/table/libsvm.hpp"
#include "data/table/lines.hpp"
#include "data/table/numpy.hpp"
#include "data/table/packed_format.hpp"
#include "data/table/parts.hpp"
#include "data/table/read_error.hpp"
#include "data/table/read_source.hpp"
#include "data/table/text_threads.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/table/packed.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kLinesToLookAt = 3;

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

// What is no CSV has no cells to part, and says itself where its names are.
void refuse_options_of_csv(const ReadOptions& options, const std::string& name, const std::string& what, Format own) {
  const bool other = options.format != Format::detect && options.format != own;
  if (!other && !options.separator && !options.header) return;
  throw Error(Fault::usage, fmt::format("{}: this is {}: leave out {}", name, what,
                                        other ? "--format" : "--sep, --header and --no-header, which are for CSV"));
}

// The parts behind the first, text like it.
void parse_parts(PartParser& parser, const std::vector<std::string>& paths, TextThreads& threads) {
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const std::unique_ptr<ByteSource> text = unpack(open_file(paths[i]), paths[i]);
    LineBlocks blocks(*text, paths[i]);
    parser.begin_part(paths[i]);
    threads.parse(parser, blocks.next(), blocks);
  }
}

Table read_text(ByteSource& text, const std::string& name, const ReadOptions& options, std::size_t block_size,
                const std::vector<std::string>& parts, const RowSink& sink) {
  LineBlocks blocks(text, name, block_size);
  const std::string_view first = blocks.next(kLinesToLookAt);
  if (first.empty()) fail_in_file(name, "the file is empty: expected a table");
  const bool is_json = is_json_lines(first, options);
  if (!is_json && is_libsvm(first, options)) {
    refuse_columns_of_libsvm(options, name);
    refuse_options_of_csv(options, name, "a LIBSVM file", Format::libsvm);
    if (parts.size() > 1) fail_in_file(name, "several files make one table as CSV or JSON Lines, not as LIBSVM");
    return read_libsvm(first, blocks, name, options);
  }
  if (is_json) refuse_options_of_csv(options, name, "a file of JSON Lines", Format::jsonl);
  // Parts are about of one size.
  const std::uint64_t size = text.expected_size() * std::max<std::size_t>(parts.size(), 1);
  const std::unique_ptr<PartReading> parser =
      is_json ? parse_json_lines(name, options) : parse_csv(first, size, name, options, sink);
  TextThreads threads(options.threads);
  threads.parse(*parser, first, blocks);
  parse_parts(*parser, parts, threads);
  return parser->finish();
}

Table read_first(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options,
                 std::size_t block_size, const std::vector<std::string>& parts, const RowSink& sink) {
  try {
    std::unique_ptr<ByteSource> content = unpack(std::move(source), name);
    std::string first_bytes;
    content = peek(std::move(content), first_bytes);
    const bool is_array = looks_like_npy(first_bytes) || looks_like_zip(first_bytes);
    if (is_array && parts.size() > 1)
      fail_in_file(name, "several files make one table as CSV or JSON Lines, not as arrays");
    if (is_array) refuse_options_of_csv(options, name, "a NumPy file", Format::npy);
    if (is_array || options.format == Format::npy) return read_numpy(*content, name, options);
    if (looks_like_packed(first_bytes)) fail_in_file(name, "a packed table is read alone, from a file: give its name");
    return read_text(*content, name, options, block_size, parts, sink);
  } catch (const std::bad_alloc&) {
    fail_in_file(name, "the table does not fit into memory");
  }
}

}  // namespace

bool is_csv(std::string_view first_lines, const ReadOptions& options) {
  return !is_json_lines(first_lines, options) && !is_libsvm(first_lines, options);
}

std::unique_ptr<PartReading> begin_reading(std::string_view first_lines, std::uint64_t size, const std::string& file,
                                           const ReadOptions& options) {
  if (!is_json_lines(first_lines, options)) return parse_csv(first_lines, size, file, options);
  ReadOptions all = options;  // in every part
  if (all.has_target && !all.target) all.target = last_field_of(first_lines, file);
  return parse_json_lines(file, all);
}

bool is_packed(const std::string& path) {
  std::error_code ignored;
  if (path == "-" || !std::filesystem::is_regular_file(path, ignored)) return false;
  char first[kPackedMagic.size()];
  return looks_like_packed({first, open_file(path)->read(first, sizeof(first))});
}

Table table_of(const PackedTable& packed, const std::string& name, const ReadOptions& options,
               Communicator* communicator) {
  refuse_options_of_csv(options, name, "a packed table", Format::detect);
  Table table = packed.description();
  const bool asked = options.has_target && options.target && !options.target_may_be_missing;
  if ((asked && *options.target != table.target_name) || !options.ignore.empty() || !options.only.empty() ||
      (!options.known.empty() && !options.target_may_be_missing)) {
    throw Error(Fault::usage,
                fmt::format("{}: the target {} and the columns of a packed table were chosen when it was packed: leave "
                            "out --target, --ignore, --only and --categorical, or pack it again",
                            name, in_quotes(table.target_name)));
  }
  if (options.has_target && !options.target_may_be_missing && table.target.size() == 0) {
    fail_in_file(name, "the packed table has no target: pack it again with one");
  }
  if (!options.has_target || options.ignores_target) table.target.resize(0), table.labels.clear();
  StreamedRows<double> rows = packed.rows();
  if (communicator != nullptr) {
    const auto [first, last] = packed.share(communicator->rank(), communicator->size());
    rows = packed.rows(first, last - first);
    if (table.target.size() > 0) table.target = Vector<double>(table.target.segment(first, last - first));
    table.bytes_read = packed.bytes_read() + static_cast<std::uint64_t>(rows.size()) * sizeof(double);
  }
  // Decided by all alike: by the largest share.
  const double bytes = all_reduce_max(communicator, static_cast<double>(rows.size()) * sizeof(double));
  const std::uint64_t needed = static_cast<std::uint64_t>(bytes) * static_cast<std::uint64_t>(options.copies);
  if (!options.memory || needed <= *options.memory) {
    together(communicator, [&] { table.features = rows.dense(); });
  } else {
    table.features = rows.with_obstacle(fmt::format(
        "{}: the rows take {}, more than --memory {}, and are read block by block, but what is asked for needs all of "
        "them at once: give a larger --memory",
        name, format_bytes(static_cast<double>(needed)), format_size(*options.memory)));
  }
  return table;
}

Table read_source(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options,
                  std::size_t block_size) {
  return read_first(std::move(source), name, options, block_size, {}, {});
}

Table read_table(const std::string& path, const ReadOptions& options, const RowSink& sink) {
  const std::vector<std::string> parts = parts_of(path);
  if (parts.size() == 1 && is_packed(parts.front())) return table_of(PackedTable::open(parts.front()), path, options);
  return read_first(open_file(parts.front()), display_name(parts.front()), options, LineBlocks::kBlockSize, parts,
                    sink);
}

Table read_table(const std::string& path, const ReadOptions& options) { return read_table(path, options, {}); }

std::uint64_t csv_memory(const std::string& path, const ReadOptions& options) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure) || options.format == Format::npy || is_packed(path)) return 0;
  const std::unique_ptr<ByteSource> text = unpack(open_file(path), path);
  std::string first(LineBlocks::kBlockSize, '\0');
  first.resize(text->read(first.data(), first.size()));
  if (first.empty()) return 0;
  if (const std::size_t end = first.rfind('\n'); end != std::string::npos) {
    first.resize(end + 1);
  } else {
    first.push_back('\n');  // of a longer line the part that is here tells enough
  }
  if (looks_like_npy(first) || looks_like_zip(first)) return 0;
  if (!is_csv(first, options)) return 0;
  const auto count = [&](char letter) { return static_cast<double>(std::count(first.begin(), first.end(), letter)); };
  double cells = count(',') + count(';') + count('\t');
  if (options.separator && std::string_view(",;\t").find(*options.separator) == std::string_view::npos) {
    cells = std::max(cells, count(*options.separator));
  } else if (cells == 0) {
    cells = count(' ');
  }
  const double share = (cells + count('\n')) / static_cast<double>(first.size());
  return static_cast<std::uint64_t>(share * static_cast<double>(text->expected_size()) * sizeof(double));
}

Table parse_table(std::string_view content, const std::string& name, const ReadOptions& options) {
  if (looks_like_packed(content)) return table_of(PackedTable::in_memory(content, name), name, options);
  return read_source(open_memory(content), name, options, LineBlocks::kBlockSize);
}

}  // namespace lipschitzlr::data
