#include "base/text.hpp"

#include <gtest/gtest.h>

namespace lipschitzlr {
namespace {

TEST(Text, WrapsBetweenWordsAndIndents) {
  EXPECT_EQ(wrap("- ", "one two  three\nfour", 9), "- one two\n  three\n  four\n");
  EXPECT_EQ(wrap("", "", 9), "\n");
}

TEST(Text, SplitsIntoOnePartMoreThanSeparators) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
}

TEST(Text, WritesNumbersForPeople) {
  EXPECT_EQ(format_count(489592), "489,592");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(-100), "-100");
  EXPECT_EQ(format_bytes(812), "812 B");
  EXPECT_EQ(format_bytes(3400), "3.4 kB");
  EXPECT_EQ(format_bytes(170.5e6), "170.5 MB");
}

TEST(Text, SizesAreReadAsTheyAreWritten) {
  for (const char* text : {"1G", "512M", "1000", "3K", "2T", "0"}) EXPECT_EQ(format_size(*size_from(text)), text);
  EXPECT_EQ(size_from("1g"), std::uint64_t{1} << 30);
  EXPECT_EQ(size_from("1.5M"), 1536u << 10);
  for (const char* text : {"", "G", "1GB", "-1M", "1 G", "nan", "1e30", "9999999999T"})
    EXPECT_FALSE(size_from(text)) << text;
}

TEST(Text, WritesDurations) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(0.2), "less than 1 s");
  EXPECT_EQ(format_duration(48), "48 s");
  EXPECT_EQ(format_duration(25 * 60), "25 min");
  EXPECT_EQ(format_duration(3.5 * 3600), "3.5 h");
  EXPECT_EQ(format_duration(12 * 86400), "12 days");
  EXPECT_EQ(format_clock(41.2), "0:42");
  EXPECT_EQ(format_clock(725), "12:05");
  EXPECT_EQ(format_clock(10800), "3:00:00");
}

TEST(Text, QuotesACsvFieldOnlyWhenItMustBe) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
}

TEST(Text, QuotesWordsForAShell) {
  EXPECT_EQ(shell_words({"fit", "a b", "it's", "", "--l2=1e-3"}), "fit 'a b' 'it'\\''s' '' --l2=1e-3");
}

TEST(Text, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_FALSE(is_utf8("\xC0\x80"));          // NUL in two bytes
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));      // half of a pair
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(is_utf8("a\xC3"));             // cut short
}

// Escape sequences begin with ESC or, in UTF-8 and Latin-1, with U+009B.
TEST(Text, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\033[31mred\n"), "\\x1B[31mred\\x0A");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xC2\\x9B"
            "31m");
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\x9B"
            "31m");
  EXPECT_EQ(printable("caf\xC3\xA9 \x7F"), "caf\xC3\xA9 \\x7F");
}

TEST(Text, ShortensBetweenCharacters) {
  EXPECT_EQ(shortened("caf\xC3\xA9", 4), "caf");
  EXPECT_EQ(shortened("caf\xC3\xA9", 5), "caf\xC3\xA9");
  EXPECT_EQ(in_quotes(std::string(50, 'a')), "\"" + std::string(40, 'a') + "...\"");
}

TEST(Text, CellsOfATableAreCutWithAMarkOrPadded) {
  EXPECT_EQ(table_cell("caf\xC3\xA9", 6), "caf\xC3\xA9  ");
  EXPECT_EQ(table_cell("married-civ", 8), "marri...");
  EXPECT_EQ(table_cell("caf\xC3\xA9\xC3\xA9\xC3\xA9", 5), "ca...");
  EXPECT_EQ(table_cell("", 2), "  ");
}

TEST(Text, FindsTheNameThatWasMeant) {
  const std::vector<std::string> names = {"predict", "reproduce", "rate"};
  ASSERT_NE(closest("Predct", names), nullptr);
  EXPECT_EQ(*closest("Predct", names), "predict");
  EXPECT_EQ(closest("xyz", names), nullptr);
  EXPECT_EQ(*closest("fti", {"rate", "fit", "data"}), "fit");
  EXPECT_EQ(did_you_mean("irsi", {"wine", "iris"}), " (did you mean iris?)");
  EXPECT_EQ(did_you_mean("xyz", names), "");
}

}  // namespace
}  // namespace lipschitzlr
