// gzip by zlib and xz by liblzma, as sources on top of a source. A packed file that is cut short or damaged is an
// error, never a shorter table.

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "data/table/read_error.hpp"
#include "data/table/source.hpp"

namespace lipschitzlr::data {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kPieceSize = 1 << 16;
constexpr std::string_view kGzipMagic = "\x1f\x8b"sv;
constexpr std::string_view kXzMagic =
    "\xfd"
    "7zXZ\0"sv;

// A source whose first bytes were already taken to look at them.
class PeekedSource : public ByteSource {
 public:
  PeekedSource(std::string first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}

  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t early = first_.copy(buffer, size);
    first_.erase(0, early);
    return early < size ? early + rest_->read(buffer + early, size - early) : early;
  }

  std::uint64_t expected_size() const override { return rest_->expected_size(); }

 private:
  std::string first_;
  std::unique_ptr<ByteSource> rest_;
};

// A file that unpacks to very much more than its own size is made to fill the memory. Tables of text, even those of
// zeros and ones, stay far below a hundredfold.
class Expansion {
 public:
  void take(std::size_t bytes) { packed_ += bytes; }
  void give(std::size_t bytes, const std::string& name) {
    constexpr std::uint64_t kHarmless = std::uint64_t{64} << 20, kMostFold = 200;
    unpacked_ += bytes;
    if (unpacked_ <= kHarmless || unpacked_ / kMostFold <= packed_) return;
    fail_in_file(name,
                 fmt::format("unpacks to more than {} times its size: unpack it yourself if you trust it", kMostFold));
  }

 private:
  std::uint64_t packed_ = 0, unpacked_ = 0;
};

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), input_(kPieceSize) {
    constexpr int kLargestWindowWithGzipHeader = 15 + 16;
    if (inflateInit2(&stream_, kLargestWindowWithGzipHeader) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    std::size_t filled = 0;
    while (filled < size && !ended_) {
      if (stream_.avail_in == 0) refill();
      const std::size_t room = std::min(size - filled, std::size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(buffer + filled);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
      expansion_.give(room - stream_.avail_out, name_);
      if (status == Z_STREAM_END) {
        start_next_member();
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK) {
        fail_in_file(name_, "the gzip file is damaged: get it again");
      }
    }
    return filled;
  }

 private:
  void refill() {
    if (!try_refill()) fail_in_file(name_, "the gzip file ends too early: get it again");
  }

  bool try_refill() {
    const std::size_t got = packed_->read(input_.data(), input_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    expansion_.take(got);
    return got > 0;
  }

  // gzip files may be concatenated, and padded with zeros at the end.
  void start_next_member() {
    while (stream_.avail_in > 0 || try_refill()) {
      if (*stream_.next_in != 0) {
        if (*stream_.next_in != static_cast<Bytef>(kGzipMagic[0]) || padded_) {
          fail_in_file(name_, "the gzip file continues with something else after its end: get it again");
        }
        inflateReset(&stream_);
        return;
      }
      padded_ = true;
      ++stream_.next_in;
      --stream_.avail_in;
    }
    ended_ = true;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::vector<char> input_;
  Expansion expansion_;
  z_stream stream_{};
  bool padded_ = false;
  bool ended_ = false;
};

class XzSource : public ByteSource {
 public:
  XzSource(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), input_(kPieceSize) {
    if (lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer);
    stream_.avail_out = size;
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0 && action_ == LZMA_RUN) refill();
      const std::size_t room = stream_.avail_out;
      const lzma_ret status = lzma_code(&stream_, action_);
      expansion_.give(room - stream_.avail_out, name_);
      ended_ = status == LZMA_STREAM_END;
      if (status != LZMA_OK && !ended_) fail(status);
    }
    return size - stream_.avail_out;
  }

 private:
  static constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 28;  // xz -9 needs a quarter of it

  void refill() {
    stream_.avail_in = packed_->read(input_.data(), input_.size());
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
    expansion_.take(stream_.avail_in);
    if (stream_.avail_in == 0) action_ = LZMA_FINISH;
  }

  [[noreturn]] void fail(lzma_ret status) const {
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status == LZMA_BUF_ERROR) fail_in_file(name_, "the xz file ends too early: get it again");
    if (status == LZMA_MEMLIMIT_ERROR) {
      fail_in_file(name_, fmt::format("unpacking needs more than {} MiB: pack it with xz -9 or less",
                                      kMostMemory / (1024 * 1024)));
    }
    fail_in_file(name_, "the xz file is damaged: get it again");
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::vector<char> input_;
  Expansion expansion_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  lzma_action action_ = LZMA_RUN;
  bool ended_ = false;
};

void refuse_other_archives(std::string_view first, const std::string& name) {
  struct Kind {
    std::string_view magic;
    std::string_view what;
  };
  constexpr std::array<Kind, 5> kKinds = {{{"PK\x03\x04"sv, "a zip archive (or a spreadsheet)"},
                                           {"BZh"sv, "a bzip2 file"},
                                           {"\x28\xb5\x2f\xfd"sv, "a Zstandard file"},
                                           {"\xff\xfe"sv, "text in UTF-16"},
                                           {"\xfe\xff"sv, "text in UTF-16"}}};
  for (const Kind& kind : kKinds) {
    if (first.starts_with(kind.magic)) {
      fail_in_file(name, fmt::format("this is {}: give it as plain text (UTF-8), .gz or .xz", kind.what));
    }
  }
}

}  // namespace

std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> source, const std::string& name) {
  std::string first(kXzMagic.size(), '\0');
  first.resize(source->read(first.data(), first.size()));
  refuse_other_archives(first, name);
  const bool is_gzip = first.starts_with(kGzipMagic);
  const bool is_xz = first.starts_with(kXzMagic);
  auto whole = std::make_unique<PeekedSource>(std::move(first), std::move(source));
  if (is_gzip) return std::make_unique<GzipSource>(std::move(whole), name);
  if (is_xz) return std::make_unique<XzSource>(std::move(whole), name);
  return whole;
}

}  // namespace lipschitzlr::data
