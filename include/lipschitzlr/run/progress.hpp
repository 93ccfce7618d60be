#pragma once
// Progress of a training on the screen (stderr): a line at epochs 0, 1, 2, 4, 8, ... so that a log stays short, and on
// a terminal a bar with speed and time left between them; or, when asked to, plots of loss and rate (run/watch.hpp).

#include <chrono>
#include <cstdint>

#include "lipschitzlr/linear/solver.hpp"
#include "lipschitzlr/run/watch.hpp"

namespace lipschitzlr::run {

enum class Verbosity { silent, lines, terminal };

// terminal when stderr is one, otherwise lines.
Verbosity default_verbosity();

class ConsoleProgress {
 public:
  ConsoleProgress(Verbosity verbosity, std::int64_t epochs, double seconds, bool watch = false);
  ~ConsoleProgress();  // clears the bar

  void show(const linear::Progress& now);
  // The last measurement, unless it has just been shown as a line.
  void finish(const linear::Progress& last);

 private:
  void line(const linear::Progress& now);
  void bar(const linear::Progress& now);
  void clear_bar();
  void draw(const linear::Progress& now);

  Verbosity verbosity_;
  std::int64_t epochs_;
  double seconds_;
  std::int64_t next_line_ = 0;
  std::int64_t last_line_ = -1;
  std::int64_t first_epoch_ = -1;
  bool bar_shown_ = false;
  double last_bar_ = 0;
  Watch watch_;
};

}  // namespace lipschitzlr::run
