#include "base/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"

namespace lipschitzlr {

void open_standard_streams() {
  int file = 0;
  while (file >= 0 && file <= STDERR_FILENO) file = open("/dev/null", O_RDWR);
  if (file > STDERR_FILENO) close(file);
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

std::size_t terminal_width() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col - 1U;
}

std::string progress_bar(double share, int width) {
  const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * width);
  return fmt::format("[{:<{}}]", std::string(filled, '='), width);
}

bool LiveLines::due() {
  if (!on_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + std::chrono::milliseconds(100);
  return true;
}

void LiveLines::draw(const std::vector<std::string>& lines) {
  if (!on_) return;
  // One write, so that nothing flickers: back to where the last picture began, then line over line.
  std::string text = drawn_ > 1 ? fmt::format("\r\033[{}A\033[J", drawn_ - 1) : drawn_ == 1 ? "\r\033[K" : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool last = i + 1 == lines.size();
    // A line that the terminal breaks could not be drawn over.
    text += last ? std::string(shortened(lines[i], terminal_width())) : lines[i] + "\n";
  }
  drawn_ = lines.size();
  write_stderr(text);
}

void LiveLines::clear() {
  if (drawn_ > 0) draw({});
}

}  // namespace lipschitzlr
