#include "data/table/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/table/read_error.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kLongestBlock = std::size_t{1} << 28;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// In bytes as long as one holds the count, which the compiler turns into vector instructions.
Index count_newlines(std::string_view text) {
  constexpr std::size_t kMostInAByte = 255;
  Index count = 0;
  while (!text.empty()) {
    const std::string_view some = text.substr(0, kMostInAByte);
    unsigned char newlines = 0;
    for (const char c : some) newlines = static_cast<unsigned char>(newlines + (c == '\n'));
    count += newlines;
    text.remove_prefix(some.size());
  }
  return count;
}

}  // namespace

LineBlocks::LineBlocks(ByteSource& source, const std::string& name, std::size_t block_size)
    : source_(source),
      name_(name),
      block_size_(std::max<std::size_t>(block_size, kByteOrderMark.size())),
      position_(source.position()) {}

std::string_view LineBlocks::next(std::size_t least_lines) {
  if (failure_) std::rethrow_exception(failure_);
  const char* const left_over = buffer_.data() + taken_;
  filled_ -= taken_;
  taken_ = 0;
  if (joined_ > 1) buffer_.swap(earlier_);
  if (buffer_.size() < filled_) buffer_.resize(filled_);
  if (filled_ > 0) std::memmove(buffer_.data(), left_over, filled_);
  do {
    fill();
    taken_ = whole_lines(least_lines);
  } while (taken_ == 0 && !ended_);
  return {buffer_.data(), taken_};
}

// More blocks behind what is left over; a line that does not fit makes the buffer grow.
void LineBlocks::fill() {
  if (ended_) return;
  if (failure_) std::rethrow_exception(failure_);
  if (filled_ > kLongestBlock) {
    fail_in_file(name_, fmt::format("a line is longer than {} MiB: is this a table?", kLongestBlock / (1024 * 1024)));
  }
  const std::size_t first = std::max(block_size_, filled_);
  const std::size_t needed = filled_ + first + (joined_ - 1) * block_size_ + 1 + kPadding;
  constexpr std::size_t kSpare = 1 << 12;  // the next time more may be left over
  if (buffer_.size() < needed) buffer_.resize(needed + kSpare);
  fill_block(first);
  try {
    for (std::size_t block = 1; block < joined_ && !ended_ && !failure_; ++block) fill_block(block_size_);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void LineBlocks::fill_block(std::size_t size) {
  const std::size_t got = source_.read(buffer_.data() + filled_, size);
  const std::size_t nul = std::string_view(buffer_.data() + filled_, got).find('\0');
  if (nul != std::string_view::npos) {
    try {
      fail_in_file(name_, fmt::format("byte {} is NUL: this is not a text file", position_ + nul + 1));
    } catch (...) {
      if (position_ == 0) throw;
      failure_ = std::current_exception();  // what is wrong above it comes first, however the file is cut into blocks
      filled_ += nul;
      return;
    }
  }
  filled_ += got;
  ended_ = got < size;
  if (position_ == 0 && std::string_view(buffer_.data(), filled_).starts_with(kByteOrderMark)) {
    filled_ -= kByteOrderMark.size();
    std::copy_n(buffer_.begin() + kByteOrderMark.size(), filled_, buffer_.begin());
  }
  position_ += got;
  if (ended_ && filled_ > 0 && buffer_[filled_ - 1] != '\n') buffer_[filled_++] = '\n';
}

// Where the last whole line ends; 0 when there are fewer lines than asked for and more may come. Who asks for several
// wants to see what they look like: blank ones do not count then.
std::size_t LineBlocks::whole_lines(std::size_t least_lines) const {
  if (ended_) return filled_;
  const std::string_view text(buffer_.data(), filled_);
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < least_lines;) {
    const std::size_t newline = text.find('\n', end);
    if (newline == std::string_view::npos) return 0;
    const bool blank = text.substr(end, newline - end).find_first_not_of(" \t\r") == std::string_view::npos;
    if (!blank || least_lines == 1) ++lines;
    end = newline + 1;
  }
  return text.rfind('\n') + 1;
}

std::vector<Lines> cut_lines(std::string_view block, std::size_t pieces) {
  const std::size_t size = block.size() / std::max<std::size_t>(pieces, 1);
  std::vector<Lines> cut;
  while (!block.empty()) {
    const std::size_t newline = block.find('\n', std::min(size, block.size() - 1));
    const std::string_view text = block.substr(0, newline + 1);
    cut.push_back({text, count_newlines(text)});
    block.remove_prefix(text.size());
  }
  return cut;
}

}  // namespace lipschitzlr::data
