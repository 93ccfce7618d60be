#include "lipschitzlr/run/watch.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace lipschitzlr::run {
namespace {

constexpr std::size_t kMostPoints = 4096;
constexpr std::size_t kWidest = 100, kUsual = 80;

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::min<std::size_t>(size.ws_col - 1U, kWidest);
}

// As the C library decides which characters a terminal shows.
bool shows_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = value;
    return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

void keep_every_second(std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] = values[2 * i];
  values.resize(values.size() / 2);
}

}  // namespace

Watch::Watch(bool wanted, bool terminal, std::string x_label)
    : wanted_(wanted), terminal_(terminal), x_label_(std::move(x_label)) {}

void Watch::add(double x, double loss, double rate) {
  if (!wanted_ || skipped_++ % stride_ != 0) return;
  x_.push_back(x);
  loss_.push_back(loss);
  rate_.push_back(rate > 0 ? rate : NAN);
  if (x_.size() < kMostPoints) return;
  for (std::vector<double>* values : {&x_, &loss_, &rate_}) keep_every_second(*values);
  stride_ *= 2;
}

std::vector<std::string> Watch::picture(std::size_t width) const {
  PlotOptions options;
  options.x_label = x_label_;
  options.width = width;
  options.unicode = shows_unicode();
  options.title = "loss";
  std::vector<std::string> lines = draw_plot(x_, loss_, options);
  options.title = "learning rate";
  for (std::string& line : draw_plot(x_, rate_, options)) lines.push_back(std::move(line));
  return lines;
}

void Watch::draw(const std::string& status) {
  if (!live() || x_.empty()) return;
  const std::size_t width = terminal_width();
  std::vector<std::string> lines = picture(width);
  if (!status.empty()) lines.push_back(status.substr(0, width));
  // One write, so that nothing flickers: up to where the last picture began, then line over line.
  std::string text = drawn_ > 0 ? fmt::format("\033[{}A\r\033[J", drawn_) : "";
  for (const std::string& line : lines) text += line + "\n";
  fmt::print(stderr, "{}", text);
  std::fflush(stderr);
  drawn_ = lines.size();
}

void Watch::clear() {
  if (drawn_ > 0) fmt::print(stderr, "\033[{}A\r\033[J", drawn_);
  drawn_ = 0;
}

void Watch::finish() {
  if (!wanted_ || x_.empty()) return;
  clear();
  for (const std::string& line : picture(terminal_ ? terminal_width() : kUsual)) fmt::print(stderr, "{}\n", line);
}

}  // namespace lipschitzlr::run
