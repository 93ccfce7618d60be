#include "lipschitzlr/experiment/text_table.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace lipschitzlr::experiment {
namespace {

TEST(TextTable, AlignsColumnsUnderTheirGroup) {
  const std::string text = draw_table({{"", "set", true}, {"rate", "paper"}, {"rate", "ours"}, {"", "word", true}},
                                      {{"iris", "1.9", "2", "yes"}, {"a", "", "10", ""}});
  EXPECT_EQ(text,
            "      -- rate --\n"
            "set   paper ours  word\n"
            "iris    1.9    2  yes\n"
            "a             10\n");
}

TEST(TextTable, BreaksSentencesBetweenWords) {
  EXPECT_EQ(wrap("1. ", "one two three four", 11),
            "1. one two\n"
            "   three\n"
            "   four\n");
  EXPECT_EQ(wrap("", "indivisible", 4), "indivisible\n");
}

TEST(TextTable, RatesTakeSevenCharactersAtMost) {
  EXPECT_EQ(format_rate(8.31331234), "8.3133");
  EXPECT_EQ(format_rate(4280.227670674592), "4280.23");
  EXPECT_EQ(format_rate(189350000), "189.35M");
  EXPECT_EQ(format_rate(0.6355822), "0.63558");
}

TEST(TextTable, CountsHaveSeparators) {
  EXPECT_EQ(format_count(489592), "489,592");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(555), "555");
}

}  // namespace
}  // namespace lipschitzlr::experiment
