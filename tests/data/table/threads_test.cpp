// A CSV read by several threads is the table, or the error, of one thread.

#include <gtest/gtest.h>

#include "data/table/random_csv.hpp"
#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::data {
namespace {

// All of a table, or its error, as text: equal if and only if the tables are, to the bit.
std::string outcome(std::string_view content, ReadOptions options, unsigned threads, std::size_t block_size) {
  options.threads = threads;
  try {
    const Table table = read_source(open_memory(content), "t.csv", options, block_size);
    std::string text;
    const auto add = [&](const double* values, Index count) {
      text.append(reinterpret_cast<const char*>(values), static_cast<std::size_t>(count) * sizeof(double));
    };
    const auto add_texts = [&](const std::vector<std::string>& texts) {
      for (const std::string& one : texts) text += one + '\n';
      text += '\f';
    };
    const auto& features = std::get<DenseMatrix<double>>(table.features);
    add(features.data(), features.size());
    add(table.target.data(), table.target.size());
    add_texts(table.feature_names);
    add_texts(table.labels);
    add_texts(table.remarks);
    for (const RawColumn& column : table.raw_columns) {
      text += std::to_string(static_cast<int>(column.kind)) + (column.exact ? "e" : "") + (column.countless ? "c" : "");
      add_texts(column.texts);
    }
    return text;
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

void expect_same(std::string_view content, const ReadOptions& options, std::size_t block_size) {
  const std::string expected = outcome(content, options, 1, block_size);
  for (const unsigned threads : {2U, 5U}) {
    ASSERT_EQ(outcome(content, options, threads, block_size), expected) << threads << " threads of\n" << content;
  }
}

ReadOptions raw() {
  ReadOptions options;
  options.raw = true;
  return options;
}

TEST(ReadingThreads, RandomTablesAreTheSameTableOrTheSameError) {
  Random random(7);
  int errors = 0;
  constexpr int kTables = 400;
  for (int i = 0; i < kTables; ++i) {
    const std::string content = random_table(random);
    ReadOptions options = raw();
    options.refuses_gaps = random.below(8) == 0;
    if (random.below(3) == 0) options.known = {{"c0", ColumnKind::text, random.below(2) == 0}};
    errors += outcome(content, options, 1, 64).starts_with("error");
    expect_same(content, options, 1 + random.below(90));
    expect_same(content, {}, 1 + random.below(90));
  }
  EXPECT_GT(errors, kTables / 10);
  EXPECT_LT(errors, kTables * 3 / 4);
}

TEST(ReadingThreads, ATextFarBelowNumbersChangesAllOfItsColumn) {
  std::string content = "a,b,y\n";
  for (int i = 0; i < 3000; ++i) {
    content += std::to_string(i % 9) + (i > 2000 && i % 3 == 0 ? "x" : "") + "," + std::to_string(i) + ",1\n";
  }
  expect_same(content, raw(), 512);
  ReadOptions options = raw();
  options.threads = 2;
  const Table table = read_source(open_memory(content), "t.csv", options, 512);
  ASSERT_EQ(table.raw_columns.size(), 2U);
  EXPECT_EQ(table.raw_columns[0].texts.front(), "0");
  EXPECT_EQ(table.raw_columns[0].texts.at(9), "3x");  // of row 2001
}

TEST(ReadingThreads, MoreTextsThanAreCountedAreTheSame) {
  constexpr int kManyTexts = (1 << 20) + 30000;
  std::string content = "id,few,y\n";
  for (int i = 0; i < kManyTexts; ++i) {
    content += "n" + std::to_string(i) + "," + std::to_string(i % 100) + "," + std::to_string(i % 3) + "\n";
  }
  const std::string one = outcome(content, raw(), 1, LineBlocks::kBlockSize);
  EXPECT_TRUE(outcome(content, raw(), 3, LineBlocks::kBlockSize) == one);
  EXPECT_NE(one.find("2c"), std::string::npos);  // texts, countless
}

TEST(ReadingThreads, TargetsOfManyNumbersOrClassesAreTheSame) {
  for (const char* start : {"", "c", "0."}) {
    std::string content = "a,y\n";
    for (int i = 0; i < 70000; ++i) content += "1," + (start + std::to_string(i)) + "\n";
    const std::string expected = outcome(content, raw(), 1, 4096);
    EXPECT_EQ(expected.starts_with("error: t.csv: line 65538, column 2"), start == std::string("c"));
    EXPECT_TRUE(outcome(content, raw(), 3, 4096) == expected) << start;
    content += "1,class\n";
    EXPECT_TRUE(outcome(content, raw(), 3, 4096) == outcome(content, raw(), 1, 4096)) << start;
  }
}

TEST(ReadingThreads, WhatCanNotBeReadComesAfterWhatIsWrongAboveIt) {
  std::string content = "a,y\n";
  for (int i = 0; i < 400; ++i) content += std::to_string(i) + ",1\n";
  std::string cut = content;
  cut[cut.size() - 100] = '\0';
  for (const bool bad_cell : {false, true}) {
    if (bad_cell) cut.replace(cut.find("250,"), 3, "2x0");
    expect_same(cut, {}, 64);
    EXPECT_EQ(outcome(cut, {}, 2, 64).find("NUL") == std::string::npos, bad_cell);
  }
}

}  // namespace
}  // namespace lipschitzlr::data
