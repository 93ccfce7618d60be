#include "lipschitzlr/data/table/packed.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <optional>
#include <set>

#include "base/descriptor.hpp"
#include "base/json.hpp"
#include "data/table/packed_format.hpp"
#include "data/table/read_error.hpp"
#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::uint64_t kMostPackedValues = std::uint64_t{1} << 48;
constexpr std::uint64_t kMostBlock = 1 << 26;  // values: what a reader holds at a time
constexpr std::uint64_t kAhead = 4 << 20;      // bytes that the system fetches while those before them are used
constexpr std::uint64_t kNear = 16 << 10;  // bytes between rows that are read together, which costs less than a call
constexpr std::uint64_t kMostTogether = 1 << 20;

// Bytes of a file or of memory, from anywhere on, for several threads at once.
class PackedBytes {
 public:
  PackedBytes(Descriptor file, const struct stat& status, std::string name)
      : file_(std::move(file)),
        size_(static_cast<std::uint64_t>(status.st_size)),
        changed_(status.st_mtim),
        name_(std::move(name)) {}
  PackedBytes(std::string_view memory, std::string name)
      : memory_(memory), size_(memory.size()), name_(std::move(name)) {}
  PackedBytes(PackedBytes&& other) noexcept
      : file_(std::move(other.file_)),
        memory_(other.memory_),
        size_(other.size_),
        changed_(other.changed_),
        name_(std::move(other.name_)) {}

  std::uint64_t size() const { return size_; }
  const std::string& name() const { return name_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

  // Within the size.
  void read(std::uint64_t offset, char* to, std::size_t count) const {
    bytes_read_ += count;
    if (!file_.open()) {
      memory_.copy(to, count, offset);
      return;
    }
    fetch_ahead(offset, count);
    while (count > 0) {
      const ssize_t got = ::pread(file_.get(), to, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_in_file(name_, std::string("can't be read: ") + std::strerror(errno));
      if (got == 0) fail("has become shorter while it is read");
      to += got, count -= static_cast<std::size_t>(got), offset += static_cast<std::uint64_t>(got);
    }
  }
  std::string read(std::uint64_t offset, std::size_t count) const {
    std::string bytes(count, '\0');
    read(offset, bytes.data(), count);
    return bytes;
  }

  // A file that another program writes to has no more the bytes whose checksums were right.
  void expect_unchanged() const {
    struct stat status {};
    if (!file_.open() || ::fstat(file_.get(), &status) != 0) return;
    const bool same = status.st_mtim.tv_sec == changed_.tv_sec && status.st_mtim.tv_nsec == changed_.tv_nsec;
    if (!same || static_cast<std::uint64_t>(status.st_size) != size_) fail("has changed while it is read");
  }

  [[noreturn]] void fail(const std::string& what) const {
    fail_in_file(name_, fmt::format("the packed table {}: get it again, or pack it again", what));
  }

 private:
  // Several threads read at once, each on from where it is: the system would take that for reading at random.
  void fetch_ahead(std::uint64_t offset, std::size_t count) const {
    const std::uint64_t next = (offset + count) / kAhead;
    if (offset / kAhead == next && offset % kAhead != 0) return;
    ::posix_fadvise(file_.get(), static_cast<off_t>(next * kAhead), 2 * kAhead, POSIX_FADV_WILLNEED);
  }

  Descriptor file_;
  std::string_view memory_;
  std::uint64_t size_;
  timespec changed_{};
  std::string name_;
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
};

std::vector<std::string> texts_of(const nlohmann::json& header, const char* key, const PackedBytes& bytes) {
  const auto list = header.find(key);
  if (list == header.end() || !list->is_array()) bytes.fail(fmt::format("has no {} in its header", key));
  std::vector<std::string> texts;
  for (const nlohmann::json& text : *list) {
    if (!text.is_string()) bytes.fail(fmt::format("has {} in its header that are not text", key));
    texts.push_back(text.get<std::string>());
  }
  if (std::set(texts.begin(), texts.end()).size() != texts.size()) {
    bytes.fail(fmt::format("has the same text twice among the {} in its header", key));
  }
  return texts;
}

}  // namespace

struct PackedTable::File {
  PackedBytes bytes;
  Table description;  // without the target
  bool has_target = false;
  std::optional<ColumnSums> column_sums;
  std::uint64_t rows = 0, columns = 0, block_rows = 0, blocks = 0;
  std::string sums;
  std::unique_ptr<std::atomic<bool>[]> verified;  // by block

  explicit File(PackedBytes given) : bytes(std::move(given)) {
    if (std::endian::native != std::endian::little)
      bytes.fail("has numbers in a byte order that this machine does not use");
    read_header();
    read_target();  // to check it
  }

  std::uint64_t target_offset() const { return kPackedStart + rows * columns * sizeof(double); }

  void read_header() {
    if (bytes.size() < kPackedStart + kPackedEnd) bytes.fail("is cut off");
    const std::string start = bytes.read(0, kPackedStart), end = bytes.read(bytes.size() - kPackedEnd, kPackedEnd);
    if (!looks_like_packed(start)) fail_in_file(bytes.name(), "is no packed table");
    if (start != packed_start()) {
      fail_in_file(bytes.name(), "is a packed table of another version than this program reads; pack it again");
    }
    if (end.substr(16) != kPackedMagic) bytes.fail("is cut off, or has changed");
    const std::uint64_t size = number_at(end.data());
    if (size > bytes.size() - kPackedStart - kPackedEnd) bytes.fail("has changed");
    const std::uint64_t offset = bytes.size() - kPackedEnd - size;
    const std::string text = bytes.read(offset, size);
    const nlohmann::json header = parse_json(text, bytes.name());
    if (!header.is_object()) bytes.fail("has no header");
    const auto number = [&](const char* key) {
      const std::int64_t value = whole_or(header, key, 0);
      if (value < 1 || static_cast<std::uint64_t>(value) > kMostPackedValues) {
        bytes.fail(fmt::format("has no number of {} in its header", key));
      }
      return static_cast<std::uint64_t>(value);
    };
    rows = number("rows"), columns = number("columns"), block_rows = number("block_rows");
    if (rows > kMostPackedValues / columns || block_rows > kMostBlock / std::min(columns, kMostBlock)) {
      bytes.fail("has more numbers in its header than a file can have");
    }
    blocks = (rows + block_rows - 1) / block_rows;
    has_target = header.value("has_target", nlohmann::json()) == true;
    const std::uint64_t before = target_offset() + (has_target ? rows * sizeof(double) : 0);
    const std::uint64_t sums_size = 8 * (blocks + 1);
    if (before > offset || offset - before != sums_size) bytes.fail("has another size than its header says");
    sums = bytes.read(before, sums_size);
    Checksum sum;
    for (const std::string_view part : {std::string_view(start), std::string_view(sums), std::string_view(text)}) {
      sum.add(part);
    }
    sum.add(std::string_view(end).substr(0, 8));
    if (sum.sum() != number_at(end.data() + 8)) bytes.fail("has changed");
    verified = std::make_unique<std::atomic<bool>[]>(blocks);
    describe(header);
  }

  void describe(const nlohmann::json& header) {
    description.feature_names = texts_of(header, "names", bytes);
    description.labels = texts_of(header, "labels", bytes);
    if (description.feature_names.size() != columns) bytes.fail("lacks the name of a column in its header");
    description.has_names = header.value("has_names", nlohmann::json()) == true;
    describe_places(header);
    read_sums(header);
    if (!has_target) return;
    description.target_name = text_or(header, "target_name", "target");
    description.target_column = std::clamp<Index>(whole_or(header, "target_column", -1), -1, description.width);
  }

  // Of the columns among those of the file that was packed, where some were left out.
  void describe_places(const nlohmann::json& header) {
    const auto places = header.value("places", nlohmann::json::array());
    description.width = whole_or(header, "width", static_cast<std::int64_t>(columns));
    if (!places.is_array()) bytes.fail("has no places of columns in its header");
    if (description.width > kMostColumns) bytes.fail("has more columns in its header than a table can have");
    for (const nlohmann::json& place : places) {
      const Index least = description.places.empty() ? 0 : description.places.back() + 1;
      const bool fits =
          place.is_number_integer() && place.get<Index>() >= least && place.get<Index>() < description.width;
      if (!fits) bytes.fail("has invalid column positions in its header");
      description.places.push_back(place.get<Index>());
    }
    const std::size_t expected = description.width == static_cast<Index>(columns) ? 0 : columns;
    if (description.places.size() != expected) bytes.fail("lacks the position of a column in its header");
  }

  // Written since they were first of use.
  void read_sums(const nlohmann::json& header) {
    const auto given = header.find("sums");
    if (given == header.end()) return;
    column_sums.emplace(static_cast<Index>(columns));
    for (const auto& [name, member] : kPackedSums) {
      const nlohmann::json list = given->is_object() ? given->value(name, nlohmann::json()) : nlohmann::json();
      const bool fits = list.is_array() && list.size() == columns &&
                        std::all_of(list.begin(), list.end(), [](const auto& value) { return value.is_number(); });
      if (!fits) bytes.fail("lacks the sum of a column in its header");
      for (std::size_t j = 0; j < columns; ++j) ((*column_sums).*member)[static_cast<Index>(j)] = list[j].get<double>();
    }
  }

  Vector<double> read_target() const {
    Vector<double> target(has_target ? static_cast<Index>(rows) : 0);
    const auto count = static_cast<std::size_t>(target.size());
    bytes.read(target_offset(), reinterpret_cast<char*>(target.data()), count * sizeof(double));
    if (checksum_of(bytes_of(target.data(), count)) != number_at(sums.data() + 8 * blocks)) bytes.fail("has changed");
    const auto classes = static_cast<double>(description.labels.size());
    for (const double value : target) {
      const bool is_class = value >= 0 && value < classes && value == std::floor(value);
      if (classes > 0 ? !is_class : !std::isfinite(value)) bytes.fail("has a target that is none");
    }
    return target;
  }

  std::uint64_t rows_of(std::uint64_t block) const { return std::min(block_rows, rows - block * block_rows); }

  void verify(std::uint64_t block) const {
    if (verified[block]) return;
    std::vector<double> numbers(rows_of(block) * columns);
    bytes.read(kPackedStart + block * block_rows * columns * sizeof(double), reinterpret_cast<char*>(numbers.data()),
               numbers.size() * sizeof(double));
    const auto first = block * block_rows + 1;
    if (checksum_of(bytes_of(numbers.data(), numbers.size())) != number_at(sums.data() + 8 * block)) {
      bytes.fail(fmt::format("has changed in rows {} to {}", first, first + rows_of(block) - 1));
    }
    if (!std::all_of(numbers.begin(), numbers.end(), [](double value) { return std::isfinite(value); })) {
      bytes.fail(fmt::format("has cells that are not numbers in rows {} to {}", first, first + rows_of(block) - 1));
    }
    verified[block] = true;
  }

  void read_rows(Index first, Index count, double* to) const {
    const auto from = static_cast<std::uint64_t>(first), last = from + static_cast<std::uint64_t>(count);
    for (std::uint64_t block = from / block_rows; block * block_rows < last; ++block) verify(block);
    bytes.read(kPackedStart + from * columns * sizeof(double), reinterpret_cast<char*>(to),
               static_cast<std::size_t>(count) * columns * sizeof(double));
    bytes.expect_unchanged();
  }

  void read_rows(const Index* numbers, Index count, double* to) const {
    const auto width = static_cast<Index>(columns);
    const Index most = std::max<Index>(1, static_cast<Index>(kMostTogether / sizeof(double)) / width);
    const Index near = std::max<Index>(1, static_cast<Index>(kNear / sizeof(double)) / width);
    std::vector<double> span;
    for (Index i = 0, taken = 0; i < count; i += taken) {
      for (taken = 1; i + taken < count; ++taken) {
        const Index gap = numbers[i + taken] - numbers[i + taken - 1];
        if (gap < 1 || gap > near || numbers[i + taken] - numbers[i] >= most) break;
      }
      const Index rows_between = numbers[i + taken - 1] - numbers[i] + 1;
      if (rows_between == taken) {
        read_rows(numbers[i], taken, to + i * width);
        continue;
      }
      span.resize(static_cast<std::size_t>(rows_between * width));
      read_rows(numbers[i], rows_between, span.data());
      for (Index j = i; j < i + taken; ++j) {
        std::copy_n(span.data() + (numbers[j] - numbers[i]) * width, width, to + j * width);
      }
    }
  }
};

PackedTable PackedTable::open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) fail_in_file(path, std::string("can't be opened: ") + std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) fail_in_file(path, "is no file");
  return PackedTable(std::make_shared<File>(PackedBytes(std::move(file), status, path)));
}

PackedTable PackedTable::in_memory(std::string_view bytes, const std::string& name) {
  return PackedTable(std::make_shared<File>(PackedBytes(bytes, name)));
}

Table PackedTable::description() const {
  Table table = file_->description;
  table.target = file_->read_target();
  return table;
}

std::uint64_t PackedTable::bytes() const { return file_->rows * file_->columns * sizeof(double); }

std::uint64_t PackedTable::bytes_read() const { return file_->bytes.bytes_read(); }

std::pair<Index, Index> PackedTable::share(int rank, int size) const {
  const auto rows = static_cast<Index>(file_->rows), blocks = static_cast<Index>(file_->blocks);
  if (blocks < size) return share_of(rows, rank, size);
  const auto [first, last] = share_of(blocks, rank, size);
  const auto height = static_cast<Index>(file_->block_rows);
  return {first * height, std::min(rows, last * height)};
}

StreamedRows<double> PackedTable::rows(Index first, Index count) const {
  const auto fill = [file = file_, first](const Index* numbers, Index from, Index some, double* to) {
    if (numbers == nullptr) return file->read_rows(first + from, some, to);
    std::vector<Index> own(numbers, numbers + some);
    for (Index& number : own) number += first;
    file->read_rows(own.data(), some, to);
  };
  return {count, static_cast<Index>(file_->columns), fill};
}

StreamedRows<double> PackedTable::rows() const {
  const auto fill = [file = file_](const Index* numbers, Index first, Index count, double* to) {
    if (numbers == nullptr) return file->read_rows(first, count, to);
    file->read_rows(numbers, count, to);
  };
  const StreamedRows<double> rows(static_cast<Index>(file_->rows), static_cast<Index>(file_->columns), fill);
  return file_->column_sums ? rows.with_column_sums(*file_->column_sums) : rows;
}

}  // namespace lipschitzlr::data
