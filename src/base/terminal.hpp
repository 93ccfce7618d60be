#pragma once
// Lines on the terminal (stderr) that are drawn over themselves: a progress bar, a plot with a status line below it.
// Where stderr is no terminal, nothing is drawn.

#include <chrono>
#include <string>
#include <vector>

namespace lipschitzlr {

bool stderr_is_terminal();
std::size_t terminal_width();  // of stderr; 80 when it is not known

// "[=====     ]": a share of 0 to 1 as a bar of so many characters between the brackets.
std::string progress_bar(double share, int width);

class LiveLines {
 public:
  explicit LiveLines(bool on = stderr_is_terminal()) : on_(on) {}
  ~LiveLines() { clear(); }
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;

  bool on() const { return on_; }
  // Whether to draw now: on a terminal, ten times a second at most.
  bool due();
  // In place of what was drawn before, the last line cut to the terminal's width. Clears when there are none.
  void draw(const std::vector<std::string>& lines);
  // So that something else can be printed.
  void clear();

 private:
  bool on_;
  std::size_t drawn_ = 0;  // lines on the screen
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace lipschitzlr
