#include "run/network_progress.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "base/text.hpp"

namespace lipschitzlr::run {
namespace {

std::string measured(double norm) { return norm > 0 ? fmt::format("{:.5g}", norm) : "-"; }  // zero: not yet

// A diverging loss must not burst its column.
std::string loss_text(double loss) {
  return std::abs(loss) < 1e4 ? fmt::format("{:.5f}", loss) : fmt::format("{:.4g}", loss);
}

}  // namespace

std::string NetworkProgress::accuracy_text(double accuracy) const {
  return numbers_ ? fmt::format("{:.4f}", accuracy) : fmt::format("{:.2f} %", accuracy * 100);
}

void NetworkProgress::say(const std::string& sentence) {
  screen_.clear();
  if (verbosity_ != Verbosity::silent) print_stderr("{}\n", sentence);
}

void NetworkProgress::show(const nn::StepReport& step, double weight_norm) {
  const Clock::time_point now = Clock::now();
  if (step.epoch != epoch_) {
    epoch_ = step.epoch;
    epoch_start_ = now;
    images_at_start_ = step.images;
  }
  screen_.add(static_cast<double>(step.step), step.loss, step.rate);
  if (!screen_.due()) return;
  const double seconds = std::chrono::duration<double>(now - epoch_start_).count();
  const double speed = static_cast<double>(step.images - images_at_start_) / std::max(seconds, 1e-9);
  const auto left = static_cast<double>((epochs_ - step.epoch + 1) * step.images_in_epoch - step.images);
  const double done = static_cast<double>(step.images) / static_cast<double>(step.images_in_epoch);
  screen_.draw(fmt::format("  epoch {}/{} {} {:.0f} {}/s  {} left  loss {}  {} {}  rate {:.4g}  K_z {}  max|w| {}",
                           step.epoch, epochs_, progress_bar(done, 20), speed, unit_,
                           speed > 0 ? format_clock(left / speed) : "?", loss_text(step.mean_loss),
                           numbers_ ? "R^2" : "accuracy", accuracy_text(step.mean_accuracy), step.rate,
                           measured(step.penultimate_norm), measured(weight_norm)));
}

void NetworkProgress::show(const nn::EpochReport& epoch, const nn::Evaluation& validation, bool best) {
  screen_.clear();
  if (verbosity_ == Verbosity::silent) return;
  if (!header_shown_) {
    print_stderr("{:>7} {:>10} {:>10} {:>10} {:>11} {:>10} {:>10} {:>10} {:>9} {:>9}\n", "epoch", "loss",
                 numbers_ ? "R^2" : "accuracy", "val. loss", numbers_ ? "val. R^2" : "val. acc.", "rate", "K_z",
                 "max ||w||", unit_ + "/s", "seconds");
  }
  header_shown_ = true;
  const auto images = static_cast<double>(epoch.images);
  print_stderr("{:>7} {:>10} {:>10} {:>10} {:>10} {:1}{:>9.4g} {:>10} {:>10} {:>9.0f} {:>9.1f}\n",
               fmt::format("{}/{}", epoch.epoch, epochs_), loss_text(epoch.loss), accuracy_text(epoch.accuracy),
               loss_text(validation.loss), accuracy_text(validation.accuracy), best ? "*" : "", epoch.rate,
               measured(epoch.numbers.penultimate_norm), measured(epoch.numbers.weight_norm),
               images / std::max(epoch.train_seconds, 1e-9), epoch.train_seconds + epoch.measure_seconds);
}

}  // namespace lipschitzlr::run
