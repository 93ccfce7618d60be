#include "lipschitzlr/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "run/clock_text.hpp"

namespace lipschitzlr::run {
namespace {

constexpr double kSecondsBetweenBars = 0.1;
constexpr int kBarWidth = 24;

}  // namespace

Verbosity default_verbosity() { return isatty(STDERR_FILENO) ? Verbosity::terminal : Verbosity::lines; }

ConsoleProgress::ConsoleProgress(Verbosity verbosity, std::int64_t epochs, double seconds, bool watch)
    : verbosity_(verbosity),
      epochs_(epochs),
      seconds_(seconds),
      watch_(watch && verbosity != Verbosity::silent, verbosity == Verbosity::terminal, "epoch") {}

ConsoleProgress::~ConsoleProgress() { clear_bar(); }

void ConsoleProgress::show(const linear::Progress& now) {
  if (verbosity_ == Verbosity::silent) return;
  watch_.add(static_cast<double>(now.epoch), now.loss, now.rate);
  if (watch_.live()) return draw(now);
  if (first_epoch_ < 0) {
    first_epoch_ = now.epoch;
    fmt::print(stderr, "{:>10} {:>14} {:>14} {:>14} {:>14} {:>9}\n", "epoch", "loss", "|gradient|", "|weights|", "rate",
               "seconds");
  }
  if (now.epoch >= next_line_) {
    line(now);
    next_line_ = std::max<std::int64_t>(1, now.epoch * 2);
  } else if (verbosity_ == Verbosity::terminal && now.seconds - last_bar_ >= kSecondsBetweenBars) {
    bar(now);
    last_bar_ = now.seconds;
  }
}

void ConsoleProgress::finish(const linear::Progress& last) {
  if (verbosity_ != Verbosity::silent && !watch_.live() && last_line_ != last.epoch) line(last);
  watch_.finish();
}

void ConsoleProgress::draw(const linear::Progress& now) {
  if (now.seconds - last_bar_ < kSecondsBetweenBars) return;
  last_bar_ = now.seconds;
  watch_.draw(fmt::format("epoch {} of {} at most, loss {:.6g}, rate {:.6g}, {:.1f} s", now.epoch, epochs_, now.loss,
                          now.rate, now.seconds));
}

void ConsoleProgress::line(const linear::Progress& now) {
  clear_bar();
  fmt::print(stderr, "{:>10} {:>14.8g} {:>14.6g} {:>14.6g} {:>14} {:>9.2f}\n", now.epoch, now.loss, now.gradient_norm,
             now.weight_norm, now.rate > 0 ? fmt::format("{:.6g}", now.rate) : "-", now.seconds);
  last_line_ = now.epoch;
}

void ConsoleProgress::bar(const linear::Progress& now) {
  const double done_epochs = static_cast<double>(now.epoch) / static_cast<double>(std::max<std::int64_t>(1, epochs_));
  const double done = std::clamp(std::max(done_epochs, now.seconds / seconds_), 0.0, 1.0);
  const double speed = static_cast<double>(now.epoch - first_epoch_) / std::max(now.seconds, 1e-9);
  const double left =
      std::min(static_cast<double>(epochs_ - now.epoch) / std::max(speed, 1e-9), seconds_ - now.seconds);
  const int filled = static_cast<int>(done * kBarWidth);
  fmt::print(stderr, "\r\033[K  [{:<{}}] {:>3.0f} %  epoch {}  {:.4g} epochs/s  loss {:.6g}  {} left at most",
             std::string(static_cast<std::size_t>(filled), '='), kBarWidth, done * 100, now.epoch, speed, now.loss,
             clock_text(left));
  std::fflush(stderr);
  bar_shown_ = true;
}

void ConsoleProgress::clear_bar() {
  if (bar_shown_) fmt::print(stderr, "\r\033[K");
  bar_shown_ = false;
}

}  // namespace lipschitzlr::run
