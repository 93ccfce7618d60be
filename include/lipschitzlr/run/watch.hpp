#pragma once
// Loss and rate of a running training as plots on the screen (stderr). On a terminal they are drawn over themselves;
// into a file or a pipe only the last picture goes, without escape codes.

#include <string>
#include <vector>

#include "lipschitzlr/run/plot.hpp"

namespace lipschitzlr::run {

class Watch {
 public:
  // wanted: by the user; terminal: whether stderr is one. x_label: what is counted.
  Watch(bool wanted, bool terminal, std::string x_label);
  ~Watch() { clear(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  bool live() const { return wanted_ && terminal_; }

  // A rate of zero or below is none.
  void add(double x, double loss, double rate);
  // On a terminal: the plots and a line below them, in place of what was drawn before.
  void draw(const std::string& status);
  // Takes the picture away, so that a sentence can be printed.
  void clear();
  // The last picture, which stays.
  void finish();

 private:
  std::vector<std::string> picture(std::size_t width) const;

  bool wanted_, terminal_;
  std::string x_label_;
  std::vector<double> x_, loss_, rate_;
  std::size_t stride_ = 1, skipped_ = 0;
  std::size_t drawn_ = 0;  // lines on the screen
};

}  // namespace lipschitzlr::run
