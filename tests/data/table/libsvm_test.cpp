#include <gtest/gtest.h>

#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {
namespace {

DenseMatrix<double> as_dense(const Table& table) { return std::get<SparseMatrix<double>>(table.features); }

std::string libsvm_error(std::string_view content, const ReadOptions& options = {}, Fault fault = Fault::data) {
  try {
    parse_table(content, "t", options);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Libsvm, PairsBecomeASparseMatrix) {
  const Table table = parse_table("+1 1:0.5 3:-2e1 \r\n-1 2:7\t3:1\n3\n", "t");
  EXPECT_EQ(as_dense(table), (DenseMatrix<double>{{0.5, 0, -20}, {0, 7, 1}, {0, 0, 0}}));
  EXPECT_EQ(table.target, (Vector<double>{{1, -1, 3}}));
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"x1", "x2", "x3"}));
  EXPECT_TRUE(std::get<SparseMatrix<double>>(table.features).isCompressed());
  EXPECT_EQ(std::get<SparseMatrix<double>>(table.features).nonZeros(), 4);
}

TEST(Libsvm, CommentsAndBlankLinesAtTheEndDoNotCount) {
  const Table table = parse_table("# made by hand\n0 1:1 # one\n1 1:2#two\n# end\n\n \n", "t");
  EXPECT_EQ(as_dense(table), (DenseMatrix<double>{{1}, {2}}));
}

TEST(Libsvm, ZerosAreNotStoredButCountAsColumns) {
  const Table table = parse_table("0 1:1 4:0\n", "t");
  EXPECT_EQ(as_dense(table), (DenseMatrix<double>{{1, 0, 0, 0}}));
  EXPECT_EQ(std::get<SparseMatrix<double>>(table.features).nonZeros(), 1);
}

TEST(Libsvm, AModelMayKnowMoreColumnsThanTheFile) {
  ReadOptions options;
  options.columns = 5;
  EXPECT_EQ(parse_table("0 1:1\n", "t", options).columns(), 5);
  EXPECT_EQ(parse_table("0 7:1\n", "t", options).columns(), 7);
  options.columns = -1;
  EXPECT_EQ(libsvm_error("0 7:1\n", options, Fault::usage), "t: -1 is not a possible number of features");
}

TEST(Libsvm, IndicesMayStartAtZero) {
  const Table table = parse_table("1 1:5\n2 0:7 2:9\n", "t");
  EXPECT_EQ(as_dense(table), (DenseMatrix<double>{{0, 5, 0}, {7, 0, 9}}));
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"x0", "x1", "x2"}));
  EXPECT_EQ(table.remarks, (std::vector<std::string>{"t: indices start at 0, not at 1"}));
  EXPECT_TRUE(parse_table("1 1:5\n", "t").remarks.empty());
  // A model knows where they start, and its rows to predict need not have the first feature.
  ReadOptions options;
  options.first_index = 0;
  EXPECT_EQ(as_dense(parse_table("1 1:5\n", "t", options)), (DenseMatrix<double>{{0, 5}}));
  options.first_index = 1;
  EXPECT_EQ(libsvm_error("1 0:1\n", options),
            "t: line 1, column 3: indices start at 1 as in the model's rows, found \"0:1\"");
}

TEST(Libsvm, RowsToPredictMayLackTheirLabel) {
  ReadOptions options;
  options.has_target = false;
  const Table table = parse_table("1:1 2:2\n0 2:3\n", "t", options);
  EXPECT_EQ(as_dense(table), (DenseMatrix<double>{{1, 2}, {0, 3}}));
  EXPECT_EQ(table.target.size(), 0);
}

TEST(Libsvm, ATargetThatMayBeMissingIsThereWhenTheFirstLineHasALabel) {
  ReadOptions options;
  options.target = "target";
  options.target_may_be_missing = true;
  EXPECT_EQ(parse_table("5 1:1\n6 1:1\n", "t", options).target, (Vector<double>{{5, 6}}));
  EXPECT_EQ(parse_table("1:1\n6 1:1\n", "t", options).target.size(), 0);
  EXPECT_EQ(libsvm_error("5 1:1\n1:1\n", options), "t: line 2, column 1: expected a number as label, found \"1:1\"");
}

TEST(Libsvm, BadIndicesAreNamedByLineAndColumn) {
  EXPECT_EQ(libsvm_error("1 1:1\n1 3:1 2:1\n"),
            "t: line 2, column 7: indices must ascend within a line, found 2 after 3");
  EXPECT_EQ(libsvm_error("1 3:1 3:1\n"), "t: line 1, column 7: index 3 is there twice in this line");
  EXPECT_EQ(libsvm_error("1 3:0 3:0\n"), "t: line 1, column 7: index 3 is there twice in this line");
  EXPECT_EQ(libsvm_error("1 99999999999999999999:1\n"),
            "t: line 1, column 3: expected an index of at most 16777216, found \"99999999999999999999:1\"");
  EXPECT_EQ(libsvm_error("1 1:1 -2:1\n"), "t: line 1, column 7: expected index:value, found \"-2:1\"");
  EXPECT_EQ(libsvm_error("1 1:1 2\n"), "t: line 1, column 7: expected index:value, found \"2\"");
  EXPECT_EQ(libsvm_error("1 a:1\n"), "t: line 1, column 3: expected index:value, found \"a:1\"");
}

TEST(Libsvm, BadValuesAndLabelsAreNamedByLineAndColumn) {
  EXPECT_EQ(libsvm_error("1 1:x\n"), "t: line 1, column 5: expected a number after the colon, found \"x\"");
  EXPECT_EQ(libsvm_error("1 1: 2:1\n"), "t: line 1, column 5: expected a number after the colon, found \"\"");
  EXPECT_EQ(libsvm_error("1 1:nan\n"), "t: line 1, column 5: expected a number after the colon, found \"nan\"");
  EXPECT_EQ(libsvm_error("1 1:1:1\n"), "t: line 1, column 5: expected a number after the colon, found \"1:1\"");
  EXPECT_EQ(libsvm_error("1 1:1e999\n"), "t: line 1, column 5: expected a number of at most 1.8e308, found \"1e999\"");
  EXPECT_EQ(libsvm_error("1 1:1\ncat 1:1\n"), "t: line 2, column 1: expected a number as label, found \"cat\"");
  EXPECT_EQ(libsvm_error("1,2 1:1\n"), "t: line 1, column 1: expected a number as label, found \"1,2\"");
  EXPECT_EQ(libsvm_error("1:1 2:1\n"), "t: line 1, column 1: expected a number as label, found \"1:1\"");
  EXPECT_EQ(libsvm_error("1 qid:3 1:1\n"),
            "t: line 1, column 3: ranking data (qid:) is not supported: remove the qid of each line");
}

TEST(Libsvm, WhatIsNoTableIsSaidPlainly) {
  ReadOptions options;
  options.format = Format::libsvm;
  EXPECT_EQ(libsvm_error("", options), "t: the file is empty: expected a table");
  EXPECT_EQ(libsvm_error("# nothing\n\n", options), "t: the file is empty: expected a table");
  EXPECT_EQ(libsvm_error("1\n2\n", options), "t: no line has a feature (index:value)");
  EXPECT_EQ(libsvm_error("1 1:1\n\n1 1:1\n", options),
            "t: line 2: the line is blank: a row without features needs at least a label, such as 0");
  options.target = "y";
  EXPECT_EQ(libsvm_error("1 1:1\n", options, Fault::usage),
            "t: a LIBSVM file has its target in front of each line: leave out the target \"y\"");
}

TEST(Libsvm, BlocksOfAnySizeGiveTheSameTable) {
  const std::string content = "1 1:1 3:2\n2 2:0.25 # x\n3\n";
  for (std::size_t block_size = 1; block_size < 30; ++block_size) {
    const Table table = read_source(open_memory(content), "t", {}, block_size);
    EXPECT_EQ(as_dense(table), (DenseMatrix<double>{{1, 0, 2}, {0, 0.25, 0}, {0, 0, 0}})) << block_size;
    EXPECT_EQ(table.target, (Vector<double>{{1, 2, 3}})) << block_size;
  }
}

}  // namespace
}  // namespace lipschitzlr::data
