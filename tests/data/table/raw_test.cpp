// Tables with other cells than numbers: ReadOptions.raw.

#include <gtest/gtest.h>

#include <cmath>

#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {
namespace {

using Names = std::vector<std::string>;

ReadOptions raw() {
  ReadOptions options;
  options.raw = true;
  return options;
}

Table read_raw(std::string_view content, const ReadOptions& options = raw()) {
  Table table = parse_table(content, "t.csv", options);
  // Whatever the size of the blocks, the table is the same.
  const Table pieces = read_source(open_memory(content), "t.csv", options, 7);
  EXPECT_EQ(table.feature_names, pieces.feature_names);
  EXPECT_EQ(table.raw_columns.size(), pieces.raw_columns.size());
  return table;
}

// The cells of a column as text, "-" being a gap.
Names cells(const Table& table, Index column) {
  const auto& matrix = std::get<DenseMatrix<double>>(table.features);
  const RawColumn raw_column =
      table.raw_columns.empty() ? RawColumn() : table.raw_columns[static_cast<std::size_t>(column)];
  Names found;
  for (const double cell : matrix.col(column)) {
    std::string text = "-";
    if (!std::isnan(cell)) {
      text = raw_column.kind == ColumnKind::text ? raw_column.texts[static_cast<std::size_t>(cell)]
                                                 : std::to_string(cell).substr(0, 4);
    }
    found.push_back(text);
  }
  return found;
}

std::string raw_error(std::string_view content, const ReadOptions& options = raw(), Fault fault = Fault::data) {
  try {
    parse_table(content, "t.csv", options);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(RawTable, NumbersAloneAreReadAsEver) {
  const Table table = read_raw("a,b,y\n1,2,3\n4,5,6\n");
  EXPECT_TRUE(table.raw_columns.empty() && table.places.empty());
  EXPECT_EQ(std::get<DenseMatrix<double>>(table.features), (DenseMatrix<double>{{1, 2}, {4, 5}}));
}

TEST(RawTable, TextsAndGapsAreKept) {
  const Table table = read_raw("a,city,y\n1,Ulm,3\n?,\"Paris, F\",6\n ,NA,7\n2.5,Ulm,7\nnan,\"say \"\"x\"\"\",7\n");
  EXPECT_EQ(cells(table, 0), (Names{"1.00", "-", "-", "2.50", "-"}));
  EXPECT_EQ(cells(table, 1), (Names{"Ulm", "Paris, F", "-", "Ulm", "say \"x\""}));
  EXPECT_EQ(table.raw_columns[0].kind, ColumnKind::number);
  EXPECT_EQ(table.raw_columns[1].kind, ColumnKind::text);
}

TEST(RawTable, NumbersAmongTextsAreTheirTexts) {
  // Above the first text and below it.
  const Table table = read_raw("t,y\n1,3\n01,3\nA,6\n1.0,7\nB,3\n,2\n2,1\nB,1\n");
  EXPECT_EQ(cells(table, 0), (Names{"1", "1", "A", "1", "B", "-", "2", "B"}));
}

TEST(RawTable, CodesKeepTheirZeros) {
  ReadOptions options = raw();
  options.known = {{"zip", ColumnKind::text, true}};
  const Table table = read_raw("zip,y\n01,3\n1,3\n01,6\n,7\n", options);
  EXPECT_EQ(cells(table, 0), (Names{"01", "1", "01", "-"}));
}

TEST(RawTable, DatesAreDays) {
  const Table table = read_raw("d,y\n1970-01-02,3\n,4\n1970-01-03T12:00,3\n");
  EXPECT_EQ(table.raw_columns[0].kind, ColumnKind::date);
  EXPECT_EQ(cells(table, 0), (Names{"1.00", "-", "2.50"}));
  EXPECT_EQ(raw_error("d,y\n1970-01-02,3\nsoon,4\n"),
            "t.csv: line 3, column 1 (\"d\"): expected a date as in the lines above, found \"soon\"");
}

TEST(RawTable, CommasAreDecimalWhereTheyPartNoCells) {
  const Table table = read_raw("a;b;y\n1,5;x;2,25\n-0,5;z;3\n2;x;4,5e1\n");
  EXPECT_EQ(cells(table, 0), (Names{"1.50", "-0.5", "2.00"}));
  EXPECT_EQ(table.target, (Vector<double>{{2.25, 3, 45}}));
  EXPECT_EQ(raw_error("a;y\n1,5;2\n", ReadOptions()),
            "t.csv: line 2, column 1 (\"a\"): expected a number with a decimal point, not a comma, found \"1,5\"");
}

TEST(RawTable, ATypingErrorInANumberIsAnError) {
  EXPECT_EQ(
      raw_error("a,y\n1,3\n1e x,3\n3,4\n"),
      "t.csv: line 3, column 1 (\"a\"): expected a number as in nearly all rows, found \"1e x\"; leave it empty if "
      "it is unknown, or take --categorical a or --ignore a");
  std::string many = "a,y\n";
  for (int i = 0; i < 100; ++i) many += std::to_string(i) + (i % 25 == 7 ? "m,1\n" : ",1\n");
  EXPECT_NE(raw_error(many).find("line 9, column 1"), std::string::npos);
}

TEST(RawTable, ColumnsAreLeftOutByNameAndNumber) {
  ReadOptions options = raw();
  options.ignore = {"id", "-1"};
  options.target = "y";
  const Table table = read_raw("id,a,y,note\nx\"1,1,3,\"a,b\"\nx2,2,4,\n", options);
  EXPECT_EQ(table.feature_names, Names{"a"});
  EXPECT_EQ(table.places, std::vector<Index>{1});
  EXPECT_EQ(table.width, 3);
  EXPECT_EQ(cells(table, 0), (Names{"1.00", "2.00"}));
  options.ignore = {};
  options.only = {"note", "a"};
  EXPECT_EQ(read_raw("id,a,y,note\nx1,1,3,a\nx2,2,4,b\n", options).feature_names, (Names{"a", "note"}));
}

TEST(RawTable, AColumnThatIsNotThereIsNamed) {
  ReadOptions options = raw();
  options.ignore = {"citty"};
  EXPECT_EQ(raw_error("city,a,y\nx,1,3\n", options, Fault::usage),
            "t.csv: --ignore \"citty\": there is no such column: did you mean \"city\"?");
  options.ignore = {"y"};
  EXPECT_EQ(raw_error("city,a,y\nx,1,3\n", options, Fault::usage),
            "t.csv: --ignore \"y\": that is the target; name another one with --target");
  options.ignore = {"4"};
  EXPECT_EQ(raw_error("city,a,y\nx,1,3\n", options, Fault::usage),
            "t.csv: --ignore \"4\": there is no such column: give a number from 1 to 3");
  options.ignore = {"1", "2"};
  EXPECT_EQ(raw_error("city,a,y\nx,1,3\n", options, Fault::usage), "t.csv: --ignore or --only leaves no feature");
}

TEST(RawTable, ATableOfTextsAndNumbersWithoutHeaderHasNone) {
  EXPECT_FALSE(read_raw("39, State-gov, 77516, <=50K\n50, Private, 83311, >50K\n").has_names);
  EXPECT_TRUE(read_raw("age, work, weight, income\n50, Private, 83311, >50K\n").has_names);
  EXPECT_TRUE(read_raw("name, city\nBob, Ulm\nEve, Ulm\n").has_names);
  EXPECT_TRUE(read_raw("id,2019,2020,y\n7,1,2,3\n8,4,5,6\n").has_names);
}

TEST(RawTable, WhatAModelKnowsIsExpected) {
  ReadOptions options = raw();
  options.only_known = true;
  options.known = {{"a", ColumnKind::number}, {"c", ColumnKind::text}, {"gone", ColumnKind::date}};
  const Table table = read_raw("junk,c,a,y\n\x01,2024-01-01,1,3\n,7,2,4\n", options);
  EXPECT_EQ(table.feature_names, (Names{"c", "a"}));
  EXPECT_EQ(cells(table, 0), (Names{"2024-01-01", "7"}));
  EXPECT_EQ(raw_error("a,c,y\nx,1,3\n", options),
            "t.csv: line 2, column 1 (\"a\"): expected a number as in training, found \"x\"");
}

TEST(RawTable, GapsAreRefusedWhenAskedTo) {
  ReadOptions options = raw();
  options.refuses_gaps = true;
  EXPECT_EQ(raw_error("a,y\n1,3\n,4\n", options),
            "t.csv: line 3, column 1 (\"a\"): expected a value, because gaps are refused (--missing error), found an "
            "empty cell");
}

TEST(RawTable, InfinityAndTextsThatAreNoUtf8AreErrors) {
  EXPECT_NE(raw_error("a,b,y\n1,x,3\n-inf,x,4\n").find("line 3, column 1"), std::string::npos);
  EXPECT_NE(raw_error("a,b,y\n1,x,3\n1e999,x,4\n").find("line 3, column 1"), std::string::npos);
  EXPECT_NE(raw_error("a,b,y\n1,x,3\n2,\xff,4\n").find("line 3, column 2 (\"b\"): expected a text in UTF-8"),
            std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::data
