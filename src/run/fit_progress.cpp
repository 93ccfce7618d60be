#include "run/fit_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"

namespace lipschitzlr::run {

void FitProgress::show(const linear::Progress& now) {
  if (verbosity_ == Verbosity::silent) return;
  screen_.add(static_cast<double>(now.epoch), now.loss, now.rate);
  const bool first = first_epoch_ < 0;
  if (first) first_epoch_ = now.epoch;
  if (screen_.live() || now.epoch < next_line_) {
    if (screen_.due()) screen_.draw(status(now));
    return;
  }
  if (first) {
    print_stderr("{:>10} {:>14} {:>14} {:>14} {:>14} {:>9}\n", "epoch", "loss", "|gradient|", "|weights|", "rate",
                 "seconds");
  }
  line(now);
  next_line_ = std::max<std::int64_t>(1, now.epoch * 2);
}

void FitProgress::finish(const linear::Progress& last) {
  if (verbosity_ != Verbosity::silent && !screen_.live() && last_line_ != last.epoch) line(last);
  screen_.finish();
}

void FitProgress::line(const linear::Progress& now) {
  screen_.clear();
  print_stderr("{:>10} {:>14.8g} {:>14.6g} {:>14.6g} {:>14} {:>9.2f}\n", now.epoch, now.loss, now.gradient_norm,
               now.weight_norm, now.rate > 0 ? fmt::format("{:.6g}", now.rate) : "-", now.seconds);
  last_line_ = now.epoch;
}

std::string FitProgress::status(const linear::Progress& now) const {
  const double done_epochs = static_cast<double>(now.epoch) / static_cast<double>(std::max<std::int64_t>(1, epochs_));
  const double done = std::clamp(std::max(done_epochs, now.seconds / seconds_), 0.0, 1.0);
  const double speed = static_cast<double>(now.epoch - first_epoch_) / std::max(now.seconds, 1e-9);
  const double left =
      std::min(static_cast<double>(epochs_ - now.epoch) / std::max(speed, 1e-9), seconds_ - now.seconds);
  return fmt::format("  {} {:>3.0f} %  epoch {}  {:.4g} epochs/s  loss {:.6g}  {} left at most", progress_bar(done, 24),
                     done * 100, now.epoch, speed, now.loss, format_clock(left));
}

}  // namespace lipschitzlr::run
