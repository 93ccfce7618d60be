#pragma once
// Progress of a network training on the screen (stderr): a line per epoch, and on a terminal a bar in between; or, when
// asked to, plots of loss and rate.

#include <chrono>
#include <string>

#include "lipschitzlr/nn/trainer.hpp"
#include "lipschitzlr/run/progress.hpp"

namespace lipschitzlr::run {

class NetworkProgress {
 public:
  NetworkProgress(Verbosity verbosity, std::int64_t epochs, bool watch = false)
      : verbosity_(verbosity),
        epochs_(epochs),
        watch_(watch && verbosity != Verbosity::silent, verbosity == Verbosity::terminal, "step") {}
  ~NetworkProgress() { clear_bar(); }

  void set_epochs(std::int64_t epochs) { epochs_ = epochs; }
  void say(const std::string& sentence);
  void show(const nn::StepReport& step, double weight_norm);
  void show(const nn::EpochReport& epoch, const nn::Evaluation& validation, bool best);
  void finish() { watch_.finish(); }

 private:
  void clear_bar();

  using Clock = std::chrono::steady_clock;
  Verbosity verbosity_;
  std::int64_t epochs_;
  bool header_shown_ = false, bar_shown_ = false;
  Clock::time_point last_bar_{};
  Clock::time_point epoch_start_{};
  Index images_at_start_ = 0;  // of the epoch, when this process took it up
  std::int64_t epoch_ = 0;
  Watch watch_;
};

}  // namespace lipschitzlr::run
