#pragma once
// Progress of a network training on the screen (stderr): a line per epoch, and on a terminal a bar in between; with
// plots of loss and rate above it when asked for.

#include <chrono>
#include <string>

#include "lipschitzlr/nn/trainer.hpp"
#include "run/live_plot.hpp"

namespace lipschitzlr::run {

class NetworkProgress {
 public:
  // numbers: accuracies are R^2; unit: "images" or "rows".
  NetworkProgress(Verbosity verbosity, std::int64_t epochs, bool plots, bool numbers, std::string unit)
      : verbosity_(verbosity),
        epochs_(epochs),
        numbers_(numbers),
        unit_(std::move(unit)),
        screen_(verbosity, plots, "step") {}

  void set_epochs(std::int64_t epochs) { epochs_ = epochs; }
  void say(const std::string& sentence);
  void show(const nn::StepReport& step, double weight_norm);
  void show(const nn::EpochReport& epoch, const nn::Evaluation& validation, bool best);
  void finish() { screen_.finish(); }

 private:
  std::string accuracy_text(double accuracy) const;

  using Clock = std::chrono::steady_clock;
  Verbosity verbosity_;
  std::int64_t epochs_;
  bool numbers_;
  std::string unit_;
  bool header_shown_ = false;
  Clock::time_point epoch_start_{};
  Index images_at_start_ = 0;  // of the epoch, when this process started or resumed it
  std::int64_t epoch_ = 0;
  LivePlot screen_;
};

}  // namespace lipschitzlr::run
