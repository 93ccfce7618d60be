#include "experiment/grid.hpp"

#include <gtest/gtest.h>

namespace lipschitzlr::experiment {
namespace {

TEST(Grid, AlignsColumnsUnderTheirGroup) {
  const std::string text = draw_grid({{"", "set", true}, {"rate", "paper"}, {"rate", "ours"}, {"", "word", true}},
                                     {{"iris", "1.9", "2", "yes"}, {"a", "", "10", ""}});
  EXPECT_EQ(text,
            "      -- rate --\n"
            "set   paper ours  word\n"
            "iris    1.9    2  yes\n"
            "a             10\n");
}

TEST(Grid, BreaksSentencesBetweenWords) {
  EXPECT_EQ(wrap("1. ", "one two three four", 11),
            "1. one two\n"
            "   three\n"
            "   four\n");
  EXPECT_EQ(wrap("", "indivisible", 4), "indivisible\n");
}

TEST(Grid, RatesTakeSevenCharactersAtMost) {
  EXPECT_EQ(format_rate(8.31331234), "8.3133");
  EXPECT_EQ(format_rate(4280.227670674592), "4280.23");
  EXPECT_EQ(format_rate(189350000), "189.35M");
  EXPECT_EQ(format_rate(0.6355822), "0.63558");
}

TEST(Grid, CountsHaveSeparators) {
  EXPECT_EQ(format_count(489592), "489,592");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(555), "555");
}

}  // namespace
}  // namespace lipschitzlr::experiment
