// gzip by zlib, xz by liblzma and zstd by libzstd, as sources on top of a source. A packed file that is cut short or
// damaged is an error, never a shorter table.

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

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
constexpr std::size_t kLongestMagic = 8;  // that of a packed table
constexpr std::string_view kGzipMagic = "\x1f\x8b"sv;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd"sv;
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

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), input_(kPieceSize), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kLargestWindow);
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos < size && !ended_) {
      const std::size_t given = out.pos, taken = ready_.pos;
      const std::size_t status = ZSTD_decompressStream(stream_, &out, &ready_);
      if (ZSTD_isError(status)) fail(status);
      expansion_.give(out.pos - given, name_);
      if (out.pos > given || ready_.pos > taken) {
        is_in_frame_ = status != 0;
      } else {
        refill();
      }
    }
    return out.pos;
  }

 private:
  static constexpr int kLargestWindow = 27;  // 128 MiB, all that zstd itself takes unless told to

  void refill() {
    const std::size_t got = packed_->read(input_.data(), input_.size());
    ready_ = {input_.data(), got, 0};
    expansion_.take(got);
    if (got > 0) return;
    if (is_in_frame_) fail_in_file(name_, "the zstd file ends too early: get it again");
    ended_ = true;
  }

  [[noreturn]] void fail(std::size_t status) const {
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(status);
    if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
      fail_in_file(name_, "unpacking needs more than 128 MiB: pack it without --long");
    }
    fail_in_file(name_, "the zstd file is damaged: get it again");
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::vector<char> input_;
  Expansion expansion_;
  ZSTD_DStream* stream_;
  ZSTD_inBuffer ready_{nullptr, 0, 0};
  bool is_in_frame_ = true, ended_ = false;
};

void refuse_other_archives(std::string_view first, const std::string& name) {
  struct Kind {
    std::string_view magic;
    std::string_view what;
  };
  constexpr std::array<Kind, 4> kKinds = {{{"BZh"sv, "a bzip2 file"},
                                           {"PAR1"sv, "a Parquet file"},
                                           {"\xff\xfe"sv, "text in UTF-16"},
                                           {"\xfe\xff"sv, "text in UTF-16"}}};
  for (const Kind& kind : kKinds) {
    if (first.starts_with(kind.magic)) {
      fail_in_file(name, fmt::format("this is {}: give it as plain text (UTF-8), .gz, .xz or .zst", kind.what));
    }
  }
}

}  // namespace

std::unique_ptr<ByteSource> peek(std::unique_ptr<ByteSource> source, std::string& first) {
  first.resize(kLongestMagic);
  first.resize(source->read(first.data(), first.size()));
  return std::make_unique<PeekedSource>(first, std::move(source));
}

std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> source, const std::string& name) {
  std::string first;
  std::unique_ptr<ByteSource> whole = peek(std::move(source), first);
  refuse_other_archives(first, name);
  if (first.starts_with(kGzipMagic)) return std::make_unique<GzipSource>(std::move(whole), name);
  if (first.starts_with(kXzMagic)) return std::make_unique<XzSource>(std::move(whole), name);
  if (first.starts_with(kZstdMagic)) return std::make_unique<ZstdSource>(std::move(whole), name);
  return whole;
}

}  // namespace lipschitzlr::data
