#include "data/table/lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/table/read_error.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kLongestBlock = std::size_t{1} << 28;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineBlocks::LineBlocks(ByteSource& source, const std::string& name, std::size_t block_size)
    : source_(source), name_(name), block_size_(std::max<std::size_t>(block_size, kByteOrderMark.size())) {}

std::string_view LineBlocks::next(std::size_t least_lines) {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(taken_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
  filled_ -= taken_;
  taken_ = 0;
  do {
    fill();
    taken_ = whole_lines(least_lines);
  } while (taken_ == 0 && !ended_);
  return {buffer_.data(), taken_};
}

// One more block behind what is left over; a line that does not fit makes the buffer grow.
void LineBlocks::fill() {
  if (ended_) return;
  if (filled_ > kLongestBlock) {
    fail_in_file(name_, fmt::format("a line is longer than {} MiB: is this a table?", kLongestBlock / (1024 * 1024)));
  }
  const std::size_t wanted = std::max(block_size_, filled_);
  const std::size_t needed = filled_ + wanted + 1 + kPadding;
  if (buffer_.size() < needed) buffer_.resize(needed);
  const std::size_t got = source_.read(buffer_.data() + filled_, wanted);
  const std::size_t nul = std::string_view(buffer_.data() + filled_, got).find('\0');
  if (nul != std::string_view::npos) {
    fail_in_file(name_, fmt::format("byte {} is NUL: this is not a text file", position_ + nul + 1));
  }
  filled_ += got;
  ended_ = got < wanted;
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

}  // namespace lipschitzlr::data
