#pragma once
// The screen (stderr) of a running training: a status line and, when asked for, plots of loss and rate above it. On a
// terminal they are drawn over themselves; into a file or a pipe only the last plots go, without escape codes.

#include <string>
#include <vector>

#include "base/terminal.hpp"
#include "lipschitzlr/run/progress.hpp"

namespace lipschitzlr::run {

class LivePlot {
 public:
  // plots: asked for by the user. x_label: what is counted.
  LivePlot(Verbosity verbosity, bool plots, std::string x_label);

  bool live() const { return plotting_ && screen_.on(); }
  bool due() { return screen_.due(); }  // whether to draw now

  // A rate of zero or below is none.
  void add(double x, double loss, double rate);
  // On a terminal, in place of what was drawn before.
  void draw(const std::string& status);
  // Takes it away, so that a sentence can be printed.
  void clear() { screen_.clear(); }
  // The last plots, which stay.
  void finish();

 private:
  std::vector<std::string> plots() const;

  bool plotting_;
  std::string x_label_;
  LiveLines screen_;
  std::vector<double> x_, loss_, rate_;
  std::size_t stride_ = 1, skipped_ = 0;
};

}  // namespace lipschitzlr::run
