#pragma once
// Progress of a linear model's training on the screen (stderr): a line at epochs 0, 1, 2, 4, 8, ... so that a log stays
// short, and on a terminal a bar with speed and time left between them; or, when asked for, plots of loss and rate.

#include <cstdint>

#include "lipschitzlr/linear/solver.hpp"
#include "run/live_plot.hpp"

namespace lipschitzlr::run {

class FitProgress {
 public:
  FitProgress(Verbosity verbosity, std::int64_t epochs, double seconds, bool plots = false)
      : verbosity_(verbosity), epochs_(epochs), seconds_(seconds), screen_(verbosity, plots, "epoch") {}

  void show(const linear::Progress& now);
  // The last measurement, unless it has just been shown as a line.
  void finish(const linear::Progress& last);

 private:
  void line(const linear::Progress& now);
  std::string status(const linear::Progress& now) const;

  Verbosity verbosity_;
  std::int64_t epochs_;
  double seconds_;
  std::int64_t next_line_ = 0;
  std::int64_t last_line_ = -1;
  std::int64_t first_epoch_ = -1;
  LivePlot screen_;
};

}  // namespace lipschitzlr::run
