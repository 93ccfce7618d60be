// JSON Lines, arrays of NumPy, zstd and tables in several files.

#include <gtest/gtest.h>
#include <zstd.h>

#include <cmath>

#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {
namespace {

using namespace std::string_literals;
using Names = std::vector<std::string>;

ReadOptions raw_options() {
  ReadOptions options;
  options.raw = true;
  return options;
}

const DenseMatrix<double>& dense_features(const Table& table) { return std::get<DenseMatrix<double>>(table.features); }

std::string format_error(const std::string& content, const ReadOptions& options = raw_options()) {
  try {
    parse_table(content, "t", options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(JsonLines, FieldsAreColumnsInTheOrderOfTheFirstLines) {
  const Table table = parse_table("{\"b\": 1.5, \"a\": -2e1, \"y\": 3}\n\n{\"a\": 4, \"b\": 5, \"y\": 6}", "t");
  EXPECT_EQ(table.feature_names, (Names{"b", "a"}));
  EXPECT_EQ(dense_features(table), (DenseMatrix<double>{{1.5, -20}, {5, 4}}));
  EXPECT_EQ(table.target, (Vector<double>{{3, 6}}));
  EXPECT_EQ(table.target_name, "y");
  EXPECT_TRUE(table.raw_columns.empty());
}

TEST(JsonLines, WhatALineLacksIsAGapAndALateFieldAColumn) {
  const std::string content =
      "{\"a\": 1, \"y\": \"u\"}\n{\"c\": \"x\", \"y\": \"v\"}\n{\"a\": null, \"c\": true, \"y\": \"u\"}\n";
  for (const std::size_t block : {5, 4096}) {
    const Table table = read_source(open_memory(content), "t", raw_options(), block);
    EXPECT_EQ(table.feature_names, (Names{"a", "c"}));
    EXPECT_EQ(table.labels, (Names{"u", "v"}));
    const DenseMatrix<double>& cells = dense_features(table);
    EXPECT_EQ(cells(0, 0), 1);
    EXPECT_TRUE(std::isnan(cells(1, 0)) && std::isnan(cells(2, 0)) && std::isnan(cells(0, 1)));
    EXPECT_EQ(table.raw_columns[1].texts, (Names{"x", "true"}));
    EXPECT_EQ(cells(2, 1), 1);
  }
}

TEST(JsonLines, WhatIsWrongIsNamedWithLineAndField) {
  EXPECT_EQ(format_error("{\"a\": 1, \"y\": 2}\n{\"a\": {}, \"y\": 3}\n"),
            "t: line 2: field \"a\": expected a number, a text, true, false or null, found an object");
  EXPECT_EQ(format_error("{\"a\": 1, \"y\": 2}\n{\"a\": 2}\n"), "t: line 2: the target \"y\" is missing");
  EXPECT_EQ(format_error("{\"a\": 1, \"y\": 2}\n{\"a\": 2, \"y\": null}\n"),
            "t: line 2: field \"y\": expected a number or a class, found nothing");
  EXPECT_EQ(format_error("{\"a\": 1, \"y\": 2}\n7\n"), "t: line 2: expected an object with fields, such as {\"a\": 1}");
  EXPECT_EQ(format_error("{\"y\": 1}\n{\"y\": 2}\n"), "t: there is no field beside the target: expected features");
  EXPECT_EQ(format_error("{\"a\": 1, \"y\": 2}\n{\"a\": \"x\", \"y\": 3}\n", ReadOptions()),
            "t: line 2: field \"a\": expected a number, found \"x\"");
  EXPECT_EQ(format_error("{\"a\": 1, \"y\": 2}\n{\"a\": \"inf\", \"y\": 3}\n"),
            "t: line 2: field \"a\": expected a finite number, found \"inf\"");
  for (const char* line : {"{\"a\": 1, \"a\": 1, \"y\": 2}", "{\"a\": 1, \"y\": 2, \"a\": null}"}) {
    EXPECT_EQ(format_error(line), "t: line 1: the field \"a\" stands there twice: give it once");
  }
  EXPECT_EQ(format_error("{\"a\": 1, \"y\": 2}\n{\"y\": 3, \"a\": 2, \"y\": 3}\n"),
            "t: line 2: the field \"y\" stands there twice: give it once");
}

// As numpy.save writes it.
std::string npy(const std::string& type, const std::string& shape, const std::string& bytes, bool by_column = false) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + (by_column ? "True" : "False") + ", 'shape': " + shape + ", }";
  header.resize(118, ' ');
  return "\x93NUMPY\x01\x00\x76\x00"s + header + bytes;
}

std::string doubles(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

TEST(Numpy, TheLastColumnOfAnArrayIsTheTarget) {
  const Table table = parse_table(npy("<f8", "(2, 3)", doubles({1, 2, 3, 4, 5, 6})), "t");
  EXPECT_EQ(dense_features(table), (DenseMatrix<double>{{1, 2}, {4, 5}}));
  EXPECT_EQ(table.target, (Vector<double>{{3, 6}}));
  EXPECT_FALSE(table.has_names);
  ReadOptions options;
  options.target = "1";
  EXPECT_EQ(parse_table(npy("<f8", "(2, 3)", doubles({1, 4, 2, 5, 3, 6}), true), "t", options).target,
            (Vector<double>{{1, 4}}));
}

TEST(Numpy, IntegersOfAllSizesAreNumbers) {
  const DenseMatrix<double> expected{{1}, {-2}};
  EXPECT_EQ(dense_features(parse_table(npy("|i1", "(2, 2)", "\x01\x00\xfe\x05"s), "t")), expected);
  EXPECT_EQ(dense_features(parse_table(npy("<i2", "(2, 2)", "\x01\x00\x00\x00\xfe\xff\x05\x00"s), "t")), expected);
}

TEST(Numpy, NotANumberIsAGapAndInfinityAnError) {
  const Table table = parse_table(npy("<f8", "(2, 2)", doubles({NAN, 1, 2, 3})), "t", raw_options());
  EXPECT_TRUE(std::isnan(dense_features(table)(0, 0)));
  EXPECT_EQ(table.raw_columns.size(), 1U);
  EXPECT_EQ(format_error(npy("<f8", "(2, 2)", doubles({1, 1, INFINITY, 3}))),
            "t: row 2, column 1: expected a finite number, found inf");
  EXPECT_EQ(format_error(npy("<f8", "(2, 2)", doubles({1, NAN, 2, 3}))),
            "t: target, row 1, column 1: expected a finite number, found nan");
}

TEST(Numpy, WhatIsNoTableIsRefused) {
  EXPECT_EQ(format_error(npy("<f8", "(2, 3)", doubles({1, 2, 3}))),
            "t: the array has 2 x 3 numbers, but the file 3: get it again");
  EXPECT_EQ(format_error(npy("<f8", "(1, 1, 2)", doubles({1, 2}))),
            "t: the array has 3 dimensions: expected rows and columns");
  for (const char* type : {"<U5", "|O", ">f8", "<c16", "<M8[ns]"}) {
    EXPECT_NE(format_error(npy(type, "(1, 2)", doubles({1, 2}))).find("the array has the type"), std::string::npos)
        << type;
  }
  for (const char* shape : {"()", "(", "(x)", "(-1, 2)", "(2 3)", "(99999999999, 99999999999)"}) {
    EXPECT_NE(format_error(npy("<f8", shape, doubles({1, 2}))).find("the array has"), std::string::npos) << shape;
  }
  EXPECT_NE(format_error("\x93NUMPY\x01\x00\xff\xff{}"s).find("ends within its header"), std::string::npos);
  EXPECT_NE(format_error("\x93NUMPY\x01\x00\x02\x00{}"s).find("lacks \"descr\""), std::string::npos);
  EXPECT_EQ(format_error(npy("<f8", "(0, 2)", "")), "t: the array is empty: expected rows and columns");
}

TEST(Numpy, AnArchiveThatIsDamagedIsRefused) {
  EXPECT_EQ(format_error("PK\x03\x04 and no more"s), "t: the archive ends too early: get it again");
  EXPECT_EQ(format_error("PK\x03\x04"s + "PK\x05\x06"s + std::string(6, '\0') + "\x01\x00"s + std::string(20, '\0')),
            "t: the archive is damaged: get it again");
}

std::string zstd_of(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(Zstd, IsUnpackedFrameByFrame) {
  std::string rows;
  for (int i = 0; i < 50000; ++i) rows += std::to_string(i) + "," + std::to_string(2 * i) + "\n";
  const std::string packed = zstd_of("a,y\n" + rows) + zstd_of("-1,-2\n");
  for (const std::size_t block : {1 << 10, 1 << 18}) {
    const Table table = read_source(open_memory(packed), "t", {}, block);
    ASSERT_EQ(table.rows(), 50001);
    EXPECT_EQ(table.target[49999], 99998);
    EXPECT_EQ(table.target[50000], -2);
  }
  EXPECT_EQ(format_error(packed.substr(0, 100)), "t: the zstd file ends too early: get it again");
  // A block of the kind that is reserved.
  EXPECT_EQ(format_error("\x28\xb5\x2f\xfd\xa0\x04\x00\x00\x00\x27\x00\x00"s + "1,2\n"),
            "t: the zstd file is damaged: get it again");
}

TEST(Zstd, AFileMadeToFillTheMemoryIsRefused) {
  EXPECT_NE(format_error(zstd_of(std::string(std::size_t{100} << 20, '1'))).find("unpacks to more than 200 times"),
            std::string::npos);
}

TEST(Parts, AreOneTableWithOneHeader) {
  const std::string folder = testing::TempDir() + "lipschitzlr_parts_";
  write_file_atomically(folder + "1.csv", "a,c,y\n1,u,2\n");
  write_file_atomically(folder + "2.csv", "a,c,y\n,v,4\n5,u,6");
  write_file_atomically(folder + "3.csv", zstd_of("a,c,y\n7,w,8\n"));
  const Table table = read_table(folder + "*.csv", raw_options());
  EXPECT_EQ(table.target, (Vector<double>{{2, 4, 6, 8}}));
  EXPECT_EQ(table.raw_columns[1].texts, (Names{"u", "v", "w"}));
  EXPECT_EQ(dense_features(table).col(1), (Vector<double>{{0, 1, 0, 2}}));
  EXPECT_EQ(read_table(folder + "{2,1}.csv", raw_options()).target, (Vector<double>{{4, 6, 2}}));
  EXPECT_THROW(read_table(folder + "x*.csv", raw_options()), Error);
}

}  // namespace
}  // namespace lipschitzlr::data
