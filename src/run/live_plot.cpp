#include "run/live_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "lipschitzlr/run/plot.hpp"

namespace lipschitzlr::run {
namespace {

constexpr std::size_t kMostPoints = 4096;
constexpr std::size_t kWidest = 100;

// As the C library decides which characters a terminal shows.
bool shows_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = value;
    return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

void keep_every_second(std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] = values[2 * i];
  values.resize(values.size() / 2);
}

}  // namespace

LivePlot::LivePlot(Verbosity verbosity, bool plots, std::string x_label)
    : plotting_(plots && verbosity != Verbosity::silent),
      x_label_(std::move(x_label)),
      screen_(verbosity == Verbosity::terminal) {}

void LivePlot::add(double x, double loss, double rate) {
  if (!plotting_ || skipped_++ % stride_ != 0) return;
  x_.push_back(x);
  loss_.push_back(loss);
  rate_.push_back(rate > 0 ? rate : NAN);
  if (x_.size() < kMostPoints) return;
  for (std::vector<double>* values : {&x_, &loss_, &rate_}) keep_every_second(*values);
  stride_ *= 2;
}

std::vector<std::string> LivePlot::plots() const {
  if (x_.empty()) return {};
  PlotOptions options;
  options.x_label = x_label_;
  options.width = std::min(kWidest, terminal_width());
  options.unicode = shows_unicode();
  options.title = "loss";
  std::vector<std::string> lines = draw_plot(x_, loss_, options);
  options.title = "learning rate";
  for (std::string& line : draw_plot(x_, rate_, options)) lines.push_back(std::move(line));
  return lines;
}

void LivePlot::draw(const std::string& status) {
  std::vector<std::string> lines = plots();
  lines.push_back(status);
  screen_.draw(lines);
}

void LivePlot::finish() {
  clear();
  for (const std::string& line : plots()) print_stderr("{}\n", line);
}

}  // namespace lipschitzlr::run
