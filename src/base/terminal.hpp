#pragma once
// Standard error: messages that never cost a result, and lines that are drawn over themselves on a terminal (a progress
// bar, a plot with a status line below it). Where stderr is not a terminal, the latter are not drawn.

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace lipschitzlr {

// First thing in a program: a file that is opened later must not get the number of a standard stream that was closed,
// or messages would be written into it.
void open_standard_streams();

// To standard error; when that is full or gone, the text is lost and nothing else.
void write_stderr(std::string_view text);
template <class... Values>
void print_stderr(fmt::format_string<Values...> format, Values&&... values) {
  write_stderr(fmt::format(format, std::forward<Values>(values)...));
}

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
