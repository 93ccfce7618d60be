// A table that several processes read together. Rank 0 says which files there are and looks at the first lines; then
// every process reads its own bytes as if nothing stood above them, and what stands there (kinds of columns, whether
// the target has classes, where lines are counted from) is compared afterwards. A process whose part would have been
// read otherwise below the parts before it, or that failed, reads it again below them: rare, and then tables and errors
// are those of one process.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/json.hpp"
#include "data/table/json_lines.hpp"
#include "data/table/lines.hpp"
#include "data/table/numpy.hpp"
#include "data/table/packed_format.hpp"
#include "data/table/parts.hpp"
#include "data/table/read_error.hpp"
#include "data/table/read_source.hpp"
#include "data/table/source.hpp"
#include "data/table/text_threads.hpp"
#include "data/table/zip.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kFirstBytes = 1 << 16;
constexpr std::size_t kLinesInView = 3;

enum class Way { whole, packed, files, ranges };

// What rank 0 decides.
struct ReadPlan {
  Way way = Way::whole;
  std::vector<std::string> paths = {};
  std::vector<std::uint64_t> sizes = {};
  std::string first_lines = {};  // of text
};

std::uint64_t size_of_file(const std::string& path) {
  std::error_code failure;
  const std::uint64_t size = fs::file_size(path, failure);
  if (failure) fail_in_file(path, "can't be read: " + failure.message());
  return size;
}

bool is_compressed(const std::string& path) {
  std::string first;
  const std::unique_ptr<ByteSource> content = peek(unpack(open_file(path), path), first);
  return content->expected_size() == 0;
}

// The first lines where they are those of CSV or JSON Lines; empty otherwise.
std::string first_lines_of(const std::string& path, const ReadOptions& options) {
  std::string first;
  const std::unique_ptr<ByteSource> content = peek(unpack(open_file(path), path), first);
  const bool is_array = options.format == Format::npy || looks_like_npy(first) || looks_like_zip(first);
  if (is_array || looks_like_packed(first)) return {};
  LineBlocks blocks(*content, path, kFirstBytes);
  const std::string lines(blocks.next(kLinesInView));
  return is_csv(lines, options) || looks_like_json_lines(lines) ? lines : std::string();
}

ReadPlan plan_of(const std::string& path, const ReadOptions& options, int processes) {
  ReadPlan plan{.paths = parts_of(path)};
  for (const std::string& part : plan.paths) {
    if (!fs::is_regular_file(part)) return {};
    plan.sizes.push_back(size_of_file(part));
  }
  if (plan.paths.size() == 1 && is_packed(path)) {
    plan.way = Way::packed;
    return plan;
  }
  plan.first_lines = first_lines_of(plan.paths.front(), options);
  if (plan.first_lines.empty()) return {};
  plan.way = Way::files;
  if (plan.paths.size() >= static_cast<std::size_t>(processes)) return plan;
  plan.way = Way::ranges;
  for (std::size_t i = 0; i < plan.paths.size(); ++i) {
    if (plan.sizes[i] == 0) fail_in_file(plan.paths[i], "the file is empty: expected a part of a table");
    if (is_compressed(plan.paths[i])) return {};
  }
  return plan;
}

ReadPlan share_plan(const std::string& path, const ReadOptions& options, Communicator& communicator) {
  std::string first_lines;
  const std::string text = from_root(&communicator, [&] {
    const ReadPlan plan = plan_of(path, options, communicator.size());
    first_lines = plan.first_lines;
    return json{static_cast<int>(plan.way), plan.paths, plan.sizes}.dump(-1, ' ', false,
                                                                         json::error_handler_t::replace);
  });
  const json plan = parse_json(text, "");
  return {plan[0].get<Way>(), plan[1].get<std::vector<std::string>>(), plan[2].get<std::vector<std::uint64_t>>(),
          broadcast(&communicator, first_lines)};
}

// Some bytes of a file: its lines from the one behind `first` on.
struct Piece {
  std::string path;
  std::uint64_t first, last;
  bool is_whole;
};

std::vector<Piece> pieces_of(const ReadPlan& plan, int rank, int size) {
  std::vector<Piece> pieces;
  if (plan.way == Way::files) {
    const auto [first, last] = share_of(static_cast<Index>(plan.paths.size()), rank, size);
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      pieces.push_back({plan.paths[i], 0, plan.sizes[i], true});
    }
    return pieces;
  }
  const std::uint64_t total = std::accumulate(plan.sizes.begin(), plan.sizes.end(), std::uint64_t{0});
  const auto [begin, end] = share_of(static_cast<Index>(total), rank, size);
  auto first = static_cast<std::uint64_t>(begin), last = static_cast<std::uint64_t>(end);
  for (std::size_t i = 0; i < plan.paths.size(); ++i) {
    const std::uint64_t own = plan.sizes[i];
    if (std::min(first, own) < std::min(last, own)) {
      pieces.push_back({plan.paths[i], first, std::min(last, own), first == 0 && last >= own});
    }
    first -= std::min(first, own), last -= std::min(last, own);
  }
  return pieces;
}

// The file of rank 0 as this process has it, which may be in another folder.
void find_file(Piece& piece, const std::vector<std::string>& own_paths, const ReadPlan& plan, int rank) {
  const std::string name = fs::path(piece.path).filename();
  const auto place = std::find(plan.paths.begin(), plan.paths.end(), piece.path) - plan.paths.begin();
  const auto is_it = [&](const std::string& path) { return fs::path(path).filename() == name; };
  const bool same_place = own_paths.size() == plan.paths.size() && is_it(own_paths[static_cast<std::size_t>(place)]);
  const auto found = same_place ? own_paths.begin() + place : std::find_if(own_paths.begin(), own_paths.end(), is_it);
  const bool alone = own_paths.size() == 1 && plan.paths.size() == 1;
  if (found == own_paths.end() && !alone) {
    fail_in_file(piece.path,
                 fmt::format("rank {} has no such file, rank 0 has: all processes need the same files", rank));
  }
  const std::uint64_t expected = plan.sizes[static_cast<std::size_t>(place)];
  piece.path = alone ? own_paths.front() : *found;
  const std::uint64_t size = size_of_file(piece.path);
  if (size == expected) return;
  fail_in_file(piece.path, fmt::format("rank {} finds {} bytes, rank 0 {}: all processes need the same files", rank,
                                       size, expected));
}

class PartOfCsv {
 public:
  PartOfCsv(const std::string& path, const ReadPlan& plan, const ReadOptions& options, Communicator& communicator)
      : plan_(plan),
        options_(options),
        communicator_(communicator),
        pieces_(pieces_of(plan, communicator.rank(), communicator.size())) {
    together(&communicator, [&] {
      const std::vector<std::string> own_paths = parts_of(path);
      for (Piece& piece : pieces_) find_file(piece, own_paths, plan, communicator.rank());
    });
  }

  Table read() {
    std::string state;
    try {
      state = read_below(nullptr);
    } catch (const Error&) {
      // It is thrown below, if it is one below what stands above this part.
    }
    const std::vector<std::string> states = gather_bytes(&communicator_, state);
    PartState all;
    for (int rank = 0; rank < communicator_.size(); ++rank) {
      const std::string& text = states[static_cast<std::size_t>(rank)];
      const PartState* const above = rank == 0 ? nullptr : &all;
      PartState part = text.empty() ? PartState() : PartState::from(text);
      if (text.empty() || (above != nullptr && !all.can_go_on_with(part))) {
        all = read_again(rank, above);
      } else if (above == nullptr) {
        all = std::move(part);
      } else {
        all.go_on_with(part);
      }
    }
    reading_->unite(all, communicator_);
    Table table = reading_->finish();
    table.bytes_read = bytes_read_;
    return table;
  }

 private:
  std::string read_below(const PartState* above) {
    reading_.reset();
    std::uint64_t size = 0;
    for (const Piece& piece : pieces_) size += piece.last - piece.first;
    reading_ = begin_reading(plan_.first_lines, std::max<std::uint64_t>(size, 1), plan_.paths.front(), options_);
    if (pieces_.empty()) reading_->begin(plan_.paths.front(), true, above);
    TextThreads threads(options_.threads);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      if (i == 0) {
        reading_->begin(piece.path, piece.first > 0, above);
      } else {
        reading_->begin_part(piece.path);
      }
      const std::unique_ptr<ByteSource> text = source_of(piece);
      LineBlocks blocks(*text, piece.path);
      threads.parse(*reading_, blocks.next(), blocks);
      if (piece.is_whole) reading_->expect_lines();
    }
    return reading_->state().text();
  }

  std::unique_ptr<ByteSource> source_of(const Piece& piece) {
    if (plan_.way == Way::files) return unpack(open_file(piece.path, &bytes_read_), piece.path);
    return open_lines(piece.path, piece.first, piece.last, &bytes_read_);
  }

  // Collective: what is known behind the part of that rank, when it is read below what stands above it.
  PartState read_again(int rank, const PartState* above) {
    std::string state;
    together(&communicator_, [&] {
      if (communicator_.rank() == rank) state = read_below(above);
    });
    return PartState::from(gather_bytes(&communicator_, state)[static_cast<std::size_t>(rank)]);
  }

  const ReadPlan& plan_;
  const ReadOptions& options_;
  Communicator& communicator_;
  std::vector<Piece> pieces_;
  std::unique_ptr<PartReading> reading_;
  std::uint64_t bytes_read_ = 0;
};

Table read_packed_part(const std::string& path, const ReadPlan& plan, const ReadOptions& options,
                       Communicator& communicator) {
  std::optional<PackedTable> packed;
  together(&communicator, [&] {
    Piece piece{plan.paths.front(), 0, 0, true};
    find_file(piece, {path}, plan, communicator.rank());
    packed = PackedTable::open(path);
  });
  return table_of(*packed, path, options, &communicator);
}

}  // namespace

std::optional<Table> read_part(const std::string& path, const ReadOptions& options, Communicator& communicator) {
  const ReadPlan plan = share_plan(path, options, communicator);
  if (plan.way == Way::whole) return std::nullopt;
  if (plan.way == Way::packed) return read_packed_part(path, plan, options, communicator);
  return PartOfCsv(path, plan, options, communicator).read();
}

}  // namespace lipschitzlr::data
