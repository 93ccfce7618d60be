#include <gtest/gtest.h>

#include "data/table/lines.hpp"
#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {
namespace {

using Names = std::vector<std::string>;

const DenseMatrix<double>& dense(const Table& table) { return std::get<DenseMatrix<double>>(table.features); }

std::string error_of(std::string_view content, const ReadOptions& options = {}, Fault fault = Fault::data) {
  try {
    parse_table(content, "t.csv", options);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return "no error";
}

ReadOptions with_target(const std::string& target) {
  ReadOptions options;
  options.target = target;
  return options;
}

TEST(Csv, TheLastColumnIsTheTargetAndTheHeaderNamesTheRest) {
  const Table table = parse_table("a,b,y\n1,2,3\n-4.5,5e1,.5\n", "t.csv");
  EXPECT_EQ(dense(table), (DenseMatrix<double>{{1, 2}, {-4.5, 50}}));
  EXPECT_EQ(table.target, (Vector<double>{{3, 0.5}}));
  EXPECT_EQ(table.feature_names, (Names{"a", "b"}));
  EXPECT_EQ(table.target_name, "y");
  EXPECT_FALSE(table.is_classified());
}

TEST(Csv, ATableWithoutHeaderNumbersItsFeatures) {
  const Table table = parse_table("1,2,3\n4,5,6", "t.csv", with_target("1"));
  EXPECT_EQ(dense(table), (DenseMatrix<double>{{2, 3}, {5, 6}}));
  EXPECT_EQ(table.target, (Vector<double>{{1, 4}}));
  EXPECT_EQ(table.feature_names, (Names{"x1", "x2"}));
  EXPECT_EQ(table.target_name, "target");
}

TEST(Csv, DelimitersAreFoundByLooking) {
  const DenseMatrix<double> expected{{1, 2}, {4, 5}};
  for (const char* content :
       {"1,2,3\n4,5,6\n", "1;2;3\n4;5;6\n", "1\t2\t3\n4\t5\t6\n", "1 2 3\n4 5 6\n", "  1   2\t3\n 4 5   6  \n",
        "1, 2, 3\n4 , 5 ,6 \n", "1,2,3\r\n4,5,6\r\n", "a b;c, d;y\n1;2;3\n4;5;6\n",
        "\xEF\xBB\xBF"
        "1,2,3\n4,5,6\n",
        "\"1\",\"2\",\"3\"\n\"4\",5,6\n", "1,2,3\n4,5,6\n\n  \n\r\n", "\n\n1,2,3\n4,5,6", "\t1,\t2,3\n4,5,6"}) {
    EXPECT_EQ(dense(parse_table(content, "t.csv")), expected) << content;
  }
}

TEST(Csv, TabsAloneAboveAHeaderAreABlankLine) {
  for (const char* above : {"\t\t\n", " \n\t\t\t\n\n"}) {
    const Table table = parse_table(std::string(above) + "a\tb\ty\n1\t2\t3\n4\t5\t6\n", "t.tsv");
    EXPECT_EQ(table.feature_names, (Names{"a", "b"})) << above;
    EXPECT_EQ(dense(table), (DenseMatrix<double>{{1, 2}, {4, 5}})) << above;
  }
}

TEST(Csv, AFormatGivenIsNotGuessed) {
  ReadOptions options;
  options.format = Format::tsv;
  EXPECT_EQ(parse_table("a,b\ty\n1\t2\n", "t", options).feature_names, (Names{"a,b"}));
  options.format = Format::csv;
  EXPECT_EQ(parse_table("1 2:3,x\n5,6\n", "t", options).feature_names, (Names{"1 2:3"}));
}

TEST(Csv, QuotesHoldDelimitersAndDoubledQuotes) {
  const Table table =
      parse_table("\"a,b\",\"say \"\"hi\"\"\",\"y\"\n1, \"2\" ,\"x, \"\"y\"\"\"\n3,4, plain 5\" text \n", "t.csv");
  EXPECT_EQ(table.feature_names, (Names{"a,b", "say \"hi\""}));
  EXPECT_EQ(table.labels, (Names{"plain 5\" text", "x, \"y\""}));
  EXPECT_EQ(table.target, (Vector<double>{{1, 0}}));
  EXPECT_EQ(dense(table), (DenseMatrix<double>{{1, 2}, {3, 4}}));
}

TEST(Csv, TheTargetIsChosenByNameOrNumber) {
  const std::string content = "a,b,c\n1,2,3\n4,5,6\n";
  const auto target_of = [&](const std::string& target) {
    return parse_table(content, "t", with_target(target)).target;
  };
  EXPECT_EQ(target_of("b"), (Vector<double>{{2, 5}}));
  EXPECT_EQ(target_of("1"), (Vector<double>{{1, 4}}));
  EXPECT_EQ(target_of("+3"), (Vector<double>{{3, 6}}));
  EXPECT_EQ(target_of("-3"), (Vector<double>{{1, 4}}));
  // A column that is named by a number is meant by its name first.
  EXPECT_EQ(parse_table("3,b,c\n7,8,9\n", "t", with_target("3")).target, (Vector<double>{{7}}));
}

TEST(Csv, RowsToPredictHaveNoTarget) {
  ReadOptions options;
  options.has_target = false;
  const Table table = parse_table("a,b\n1,2\n", "t", options);
  EXPECT_EQ(dense(table), (DenseMatrix<double>{{1, 2}}));
  EXPECT_EQ(table.target.size(), 0);
  EXPECT_EQ(dense(parse_table("5\n6\n", "t", options)), (DenseMatrix<double>{{5}, {6}}));
}

TEST(Csv, ATargetThatMayBeMissingIsFoundByNameOrByWidth) {
  ReadOptions options = with_target("y");
  options.target_may_be_missing = true;
  options.columns = 2;
  const auto target_of = [&](const char* content) { return parse_table(content, "t", options).target; };
  EXPECT_EQ(target_of("a,y,b\n1,2,3\n"), (Vector<double>{{2}}));
  EXPECT_EQ(target_of("a,b\n1,2\n").size(), 0);
  EXPECT_EQ(target_of("a,b,c\n1,2,3\n").size(), 0) << "the header says that none of them is the target";
  EXPECT_EQ(target_of("1,2\n").size(), 0);
  EXPECT_EQ(target_of("1,2,3\n"), (Vector<double>{{3}}));
  EXPECT_EQ(parse_table("1,2,no\n3,4,yes\n", "t", options).labels, (Names{"no", "yes"}));
  options.target = "1";
  EXPECT_EQ(target_of("1,2,3\n"), (Vector<double>{{3}})) << "a name that looks like a number is a name here";
}

TEST(Csv, LabelsAreSortedStrings) {
  const Table table = parse_table("5.1,setosa\n4.9,virginica\n6,setosa\n7,\xC3\xA4hre\n", "t.csv");
  EXPECT_EQ(table.labels, (Names{"setosa", "virginica", "\xC3\xA4hre"}));
  EXPECT_EQ(table.target, (Vector<double>{{0, 1, 0, 2}}));
  EXPECT_EQ(table.feature_names, (Names{"x1"})) << "a label alone does not make the first line a header";
}

TEST(Csv, AHeaderCanBeForcedOrForbidden) {
  ReadOptions options;
  options.header = true;
  EXPECT_EQ(parse_table("1,2\n3,4\n", "t", options).rows(), 1);
  options.header = false;
  EXPECT_EQ(error_of("a,b\n3,4\n", options), "t.csv: line 1, column 1: expected a number, found \"a\"");
  options.target = "b";
  EXPECT_EQ(error_of("a,b\n3,4\n", options, Fault::usage),
            "t.csv: there is no column \"b\", for the file has no header: give the target's number");
}

TEST(Csv, NumbersAmongLabelsAreLabelsAsTheyStandInTheFile) {
  const Table first = parse_table("a,y\n1,01\n2,02\n3,x\n4,1.0\n5,01\n6,1.5\n", "t");
  EXPECT_EQ(first.labels, (Names{"01", "02", "1.0", "1.5", "x"}));
  EXPECT_EQ(first.target, (Vector<double>{{0, 1, 4, 2, 0, 3}}));
  const Table last = parse_table("a,y\n3,3+\n1,+1\n2,\"02\"\n4,1\n5,1.5\n", "t");
  EXPECT_EQ(last.labels, (Names{"+1", "02", "1", "1.5", "3+"}));
  EXPECT_EQ(last.target, (Vector<double>{{4, 0, 1, 2, 3}}));
}

TEST(Csv, NumbersAloneAreNumbersHoweverTheyAreWritten) {
  const Table table = parse_table("a,y\n1,01\n2,1.0\n3,-0.5\n4,1\n", "t");
  EXPECT_FALSE(table.is_classified());
  EXPECT_EQ(table.target, (Vector<double>{{1, 1, -0.5, 1}}));
}

TEST(Csv, IdentifiersThatADoubleDoesNotHoldAreLabels) {
  const Table table = parse_table("a,y\n1,9007199254740992\n2,9007199254740993\n3,-9007199254740993\n", "t");
  EXPECT_EQ(table.labels, (Names{"-9007199254740993", "9007199254740992", "9007199254740993"}));
  EXPECT_EQ(table.target, (Vector<double>{{1, 2, 0}}));
  EXPECT_FALSE(parse_table("a,y\n1,9007199254740991\n2,-9007199254740991\n", "t").is_classified());
  EXPECT_FALSE(parse_table("a,y\n1,1e20\n2,2e20\n", "t").is_classified()) << "a measurement, not an identifier";
}

TEST(Csv, NumbersAreLabelsWhenTheTargetIsSaidToHaveClasses) {
  ReadOptions options;
  options.target_is_classes = true;
  const Table table = parse_table("a,y\n1,1.50\n2,01\n3,1.50\n", "t", options);
  EXPECT_EQ(table.labels, (Names{"01", "1.50"}));
  EXPECT_EQ(table.target, (Vector<double>{{1, 0, 1}}));
}

std::string numbers_to(int count, const char* after_each) {
  std::string content = "a,y\n";
  for (int i = 1; i <= count; ++i) content += "1," + std::to_string(i) + after_each + "\n";
  return content;
}

TEST(Csv, ATextBelowManyDifferentNumbersIsAnError) {
  EXPECT_EQ(parse_table(numbers_to(256, ".5") + "1,x\n", "t").labels.size(), 257u);
  EXPECT_EQ(error_of(numbers_to(257, ".5") + "1,x\n"),
            "t.csv: line 259, column 2 (\"y\"): expected a number as in the lines above, found \"x\"");
  EXPECT_EQ(parse_table(numbers_to(65535, "") + "1,x\n", "t").labels.size(), 65536u);
  EXPECT_EQ(error_of(numbers_to(65536, "") + "1,x\n"),
            "t.csv: line 65538, column 2 (\"y\"): expected at most 65536 different classes in the target, found \"x\"");
  EXPECT_EQ(error_of(numbers_to(65537, "") + "1,x\n"),
            "t.csv: line 65539, column 2 (\"y\"): expected a number as in the lines above, found \"x\"");
  EXPECT_EQ(parse_table(numbers_to(70000, ""), "t").target, Vector<double>::LinSpaced(70000, 1, 70000));
}

TEST(Csv, AQuantityWithGapsIsNoClass) {
  EXPECT_EQ(error_of("a,y\n1,NA\n2,1.5\n"),
            "t.csv: line 3, column 2 (\"y\"): expected a class as in the lines above, found \"1.5\"");
  EXPECT_EQ(error_of("a,y\n1,1\n2,NA\n"),
            "t.csv: line 3, column 2 (\"y\"): expected a number as in the lines above, found \"NA\"");
}

TEST(Csv, BadCellsAreNamedByLineAndColumn) {
  EXPECT_EQ(error_of("A,B,TAX,y\n1,2,3,4\n1,2,n/a,4\n"),
            "t.csv: line 3, column 3 (\"TAX\"): expected a number, found \"n/a\"");
  EXPECT_EQ(error_of("a,b,y\n1,,3\n"), "t.csv: line 2, column 2 (\"b\"): expected a number, found an empty cell");
  EXPECT_EQ(error_of("a,b,y\n1,2,\n"),
            "t.csv: line 2, column 3 (\"y\"): expected a number or a class, found an empty cell");
  EXPECT_EQ(error_of("1,2,n/a,4\n"), "t.csv: line 1, column 3: expected a number, found \"n/a\"");
  EXPECT_EQ(error_of("a,y\n1,2\nnan,2\n"), "t.csv: line 3, column 1 (\"a\"): expected a finite number, found \"nan\"");
  EXPECT_EQ(error_of("a,y\n1,2\n1,-inf\n"),
            "t.csv: line 3, column 2 (\"y\"): expected a finite number, found \"-inf\"");
  EXPECT_EQ(error_of("a,y\n1e999,2\n"),
            "t.csv: line 2, column 1 (\"a\"): expected a number of at most 1.8e308, found \"1e999\"");
  EXPECT_EQ(error_of("a;y\n1,5;2\n"),
            "t.csv: line 2, column 1 (\"a\"): expected a number with a decimal point, not a comma, found \"1,5\"");
  EXPECT_EQ(error_of("a,y\n0x10,2\n"), "t.csv: line 2, column 1 (\"a\"): expected a number, found \"0x10\"");
  EXPECT_EQ(error_of("a,y\n1 2,2\n"), "t.csv: line 2, column 1 (\"a\"): expected a number, found \"1 2\"");
  EXPECT_EQ(error_of("a,y\n\x01" + std::string(50, 'z') + ",2\n"),
            "t.csv: line 2, column 1 (\"a\"): expected a number, found \"\\x01" + std::string(39, 'z') + "...\"");
}

TEST(Csv, RaggedRowsAreCounted) {
  EXPECT_EQ(error_of("a,b,y\n1,2,3\n1,2\n"), "t.csv: line 3: expected 3 cells as in line 1, found 2");
  EXPECT_EQ(error_of("a,b,y\n1,2,3,4,5\n"), "t.csv: line 2: expected 3 cells as in line 1, found 5");
  EXPECT_EQ(error_of("1 2 3\n4 5\n"), "t.csv: line 2: expected 3 cells as in line 1, found 2");
  EXPECT_EQ(error_of("a,y\n1,2\n\n \n3,4\n"), "t.csv: line 3: the line is blank: expected a row");
}

TEST(Csv, QuotesThatDoNotMatchAreErrors) {
  const std::string advice =
      "the quotes of this cell don't match: close them on the same line, and double a quote inside";
  EXPECT_EQ(error_of("a,y\n1,\"x\n2,z\"\n"), "t.csv: line 2, column 2: " + advice);
  EXPECT_EQ(error_of("a,y\n1,2\n1,3\n\"1\"0,2\n"), "t.csv: line 4, column 1 (\"a\"): " + advice);
}

TEST(Csv, WhatIsNoTableIsSaidPlainly) {
  EXPECT_EQ(error_of(""), "t.csv: the file is empty: expected a table");
  EXPECT_EQ(error_of("\n \r\n\n"), "t.csv: the file is empty: expected a table");
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), "t.csv: the file is empty: expected a table");
  EXPECT_EQ(error_of("a,b\n"), "t.csv: there is a header but no row");
  EXPECT_EQ(error_of("1\n2\n"), "t.csv: there is only one column, the target: expected features beside it");
  EXPECT_EQ(error_of(std::string_view("a,b\n1,\0\n", 8)), "t.csv: byte 7 is NUL: this is not a text file");
  EXPECT_EQ(error_of("a,b\r1,2\r3,4\r"),
            "t.csv: line 1: lines end in a bare carriage return: save the file with newlines");
  EXPECT_EQ(error_of("\xFF\xFE"
                     "a"),
            "t.csv: this is text in UTF-16: give it as plain text (UTF-8), .gz, .xz or .zst");
}

TEST(Csv, NamesAndLabelsMustBeUtf8) {
  EXPECT_EQ(error_of("a,Gr\xF6sse,y\n1,2,3\n"),
            "t.csv: line 1, column 2: expected a name in UTF-8 (save the file as UTF-8), found \"Gr\\xF6sse\"");
  EXPECT_EQ(error_of("\na,b,Gr\xF6sse\n1,2,3\n", with_target("c")),
            "t.csv: line 2, column 3: expected a name in UTF-8 (save the file as UTF-8), found \"Gr\\xF6sse\"");
  EXPECT_EQ(error_of("a,y\n1,Wurst\n2,K\xE4se\n"),
            "t.csv: line 3, column 2 (\"y\"): expected a class in UTF-8 (save the file as UTF-8), found \"K\\xE4se\"");
  // Cut off, a continuation alone, '/' in two bytes, half a surrogate pair, above U+10FFFF, a byte that never occurs.
  for (const char* bad : {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xFF", "\xC3(", "\xE2(\xA1"}) {
    EXPECT_NE(error_of("a,y\n1,x" + std::string(bad) + "\n").find("save the file as UTF-8"), std::string::npos) << bad;
  }
  const Names good = {"\x7F",         "\xC2\x80",     "\xDF\xBF",         "\xE0\xA0\x80",    "\xED\x9F\xBF",
                      "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};
  std::string content = "\xE2\x82\xAC,\xF0\x9F\x98\x80\n";
  for (const std::string& label : good) content += "1," + label + "\n";
  const Table table = parse_table(content, "t");
  EXPECT_EQ(table.labels, good);
  EXPECT_EQ(table.feature_names, (Names{"\xE2\x82\xAC"}));
  EXPECT_EQ(table.target_name, "\xF0\x9F\x98\x80");
}

TEST(Csv, FeaturesHaveDifferentNames) {
  EXPECT_EQ(error_of("\na,b,a,y\n1,2,3,4\n"),
            "t.csv: line 2: columns 1 and 3 are both named \"a\": give each feature a name of its own");
  EXPECT_EQ(parse_table("y,a,y\n1,2,3\n", "t", with_target("1")).feature_names, (Names{"a", "y"}));
  EXPECT_EQ(parse_table(",,x1,y\n1,2,3,4\n", "t").feature_names, (Names{"x1_", "x2", "x1"}));
}

TEST(Csv, AnUnknownTargetIsAnsweredWithAdvice) {
  const std::string content = "CRIM,ZN,TAX,AGE,DIS,MEDV\n1,2,3,4,5,6\n";
  EXPECT_EQ(error_of(content, with_target("Tqx"), Fault::usage),
            "t.csv: there is no column \"Tqx\": did you mean \"TAX\"?");
  EXPECT_EQ(error_of(content, with_target("price"), Fault::usage),
            "t.csv: there is no column \"price\": the columns are \"CRIM\", \"ZN\", \"TAX\", \"AGE\", \"DIS\", ...");
  for (const char* number : {"0", "7", "-7"}) {
    EXPECT_EQ(
        error_of(content, with_target(number), Fault::usage),
        std::string("t.csv: there is no column ") + number + ": columns are numbered 1 to 6, or -1 to -6 from the end");
  }
  EXPECT_EQ(error_of("y,a,y\n1,2,3\n", with_target("y"), Fault::usage),
            "t.csv: columns 1 and 3 are both named \"y\": give the target's number");
}

TEST(Csv, ThousandsOfColumnsAndManyBlocksGiveTheSameTable) {
  constexpr Index kRows = 40;
  constexpr Index kColumns = 5000;
  std::string content;
  for (Index row = 0; row < kRows; ++row) {
    for (Index column = 0; column < kColumns; ++column) content += std::to_string(row * kColumns + column) + ",";
    content += std::to_string(row) + "\n";
  }
  const DenseMatrix<double> expected = Vector<double>::LinSpaced(kRows * kColumns, 0, kRows * kColumns - 1)
                                           .transpose()
                                           .reshaped<Eigen::RowMajor>(kRows, kColumns);
  for (std::size_t block_size : {std::size_t{7}, std::size_t{40000}, LineBlocks::kBlockSize}) {
    const Table table = read_source(open_memory(content), "t", {}, block_size);
    EXPECT_EQ(dense(table), expected);
    EXPECT_EQ(table.target, Vector<double>::LinSpaced(kRows, 0, kRows - 1));
  }
}

TEST(Csv, BlocksOfAnySizeGiveTheSameLines) {
  const std::string content =
      "\xEF\xBB\xBF"
      "a,b,y\r\n1,2,\"x,1\"\r\n3,4,z\r\n\r\n";
  for (std::size_t block_size = 1; block_size < 40; ++block_size) {
    const Table table = read_source(open_memory(content), "t", {}, block_size);
    EXPECT_EQ(dense(table), (DenseMatrix<double>{{1, 2}, {3, 4}})) << block_size;
    EXPECT_EQ(table.labels, (Names{"x,1", "z"})) << block_size;
  }
}

TEST(Csv, MoreBlankLinesThanABlockHoldsDoNotHideTheTable) {
  const Table table = parse_table(std::string(600000, '\n') + "a,y\n1,2\n3,4\n", "t.csv");
  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(table.target_name, "y");
}

}  // namespace
}  // namespace lipschitzlr::data
