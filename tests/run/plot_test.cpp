#include "lipschitzlr/run/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lipschitzlr::run {
namespace {

using Lines = std::vector<std::string>;

PlotOptions small(bool unicode) { return {"loss", "epoch", 24, 3, unicode}; }

TEST(Plot, DrawsColumnsOfBlocksInAFrame) {
  EXPECT_EQ(draw_plot({0, 1, 2, 3}, {4, 3, 2, 1}, small(true)), (Lines{
                                                                    "loss",
                                                                    "         4 │███",
                                                                    "           │██████▁▁▁",
                                                                    "         1 │█████████▁▁▁",
                                                                    "           └────────────",
                                                                    "            0    epoch 3",
                                                                }));
}

TEST(Plot, DrawsWithLettersOfAnyTerminal) {
  EXPECT_EQ(draw_plot({0, 1, 2, 3}, {4, 3, 2, 1}, small(false)), (Lines{
                                                                     "loss",
                                                                     "         4 |###",
                                                                     "           |######...",
                                                                     "         1 |#########...",
                                                                     "           +------------",
                                                                     "            0    epoch 3",
                                                                 }));
}

TEST(Plot, TakesALogarithmicScaleOverDecades) {
  const Lines lines = draw_plot({0, 1, 2}, {100, 10, 1}, small(false));
  EXPECT_EQ(lines[0], "loss (log scale)");
  EXPECT_EQ(lines[1], "       100 |####");
  EXPECT_EQ(lines[2], "           |####::::");
  EXPECT_EQ(lines[3], "         1 |########....");
}

TEST(Plot, LeavesAGapWhereThereIsNoNumber) {
  const Lines lines = draw_plot({0, 1, 2}, {2, NAN, 2}, small(false));
  EXPECT_EQ(lines[3], "         2 |####    ####");
  EXPECT_EQ(lines[1], "         2 |") << "a constant is half as high as it could be";
}

TEST(Plot, RoundingOfAMeanIsNoChange) {
  const std::vector<double> x(100, 1), y(100, 0.1);
  const Lines lines = draw_plot(x, y, small(false));
  EXPECT_EQ(lines[1], "       0.1 |");
  EXPECT_EQ(lines[3], "       0.1 |############");
}

TEST(Plot, ManyPointsBecomeTheMeansOfTheirColumns) {
  std::vector<double> x, y;
  for (int i = 0; i < 1200; ++i) {
    x.push_back(i);
    y.push_back(i % 2 == 0 ? 0 : 2);
  }
  const Lines lines = draw_plot(x, y, small(false));
  EXPECT_EQ(lines[3].substr(0, 10), "         1");
}

TEST(Plot, DrawsNothingWhenThereIsNothingOrNoRoom) {
  EXPECT_TRUE(draw_plot({}, {}, small(true)).empty());
  EXPECT_TRUE(draw_plot({1}, {INFINITY}, small(true)).empty());
  PlotOptions narrow = small(true);
  narrow.width = 15;
  EXPECT_TRUE(draw_plot({1}, {1}, narrow).empty());
}

}  // namespace
}  // namespace lipschitzlr::run
