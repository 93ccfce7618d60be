// Tables read by several processes, each its part, against the table or the error of one process.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/thread_communicator.hpp"
#include "data/table/random_csv.hpp"
#include "data/table/read_source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

// What a process has: the columns, its rows cell by cell, as the texts they stand for, and the bytes that it read.
struct Had {
  std::string columns, rows, error;
  std::uint64_t bytes = 0;
};

std::string columns_of(const Table& table) {
  std::string text = fmt::format("{} {} {} {}\n", table.target_name, table.target_column, table.has_names, table.width);
  for (const std::string& name : table.feature_names) text += name + ',';
  for (const std::string& label : table.labels) text += label + ';';
  for (const Index place : table.places) text += fmt::format("@{}", place);
  for (const RawColumn& column : table.raw_columns) {
    text += fmt::format("[{}{}{}]", static_cast<int>(column.kind), column.exact, column.countless);
  }
  return text;
}

std::string rows_of(const Table& table) {
  std::string text;
  const auto& features = std::get<DenseMatrix<double>>(table.features);
  for (Index row = 0; row < features.rows(); ++row) {
    for (Index j = 0; j < features.cols(); ++j) {
      const double cell = features(row, j);
      const auto place = static_cast<std::size_t>(j);
      const bool is_text = !table.raw_columns.empty() && table.raw_columns[place].kind == ColumnKind::text;
      const bool is_id = is_text && table.raw_columns[place].countless;
      text += std::isnan(cell) ? "gap"
              : is_id          ? "a text"
              : is_text        ? table.raw_columns[place].texts.at(static_cast<std::size_t>(cell))
                               : fmt::format("{:a}", cell);
      text += ',';
    }
    text += fmt::format("{:a}\n", table.target.size() > 0 ? table.target[row] : 0);
  }
  return text;
}

Had had_of(const std::function<Table()>& read) {
  Had had;
  try {
    const Table table = read();
    had = {columns_of(table), rows_of(table), "", table.bytes_read};
  } catch (const Error& error) {
    had.error = error.what();
  }
  return had;
}

class ReadPart : public testing::Test {
 protected:
  ReadPart() { std::filesystem::create_directory(folder_); }
  ~ReadPart() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { write_file_atomically(path(name), text); }

  std::vector<Had> parts_of(const std::string& source, const ReadOptions& options, int size) const {
    return test::run_threads<Had>(size, [&](Communicator& communicator) {
      return had_of([&] { return read_part(source, options, communicator).value(); });
    });
  }
  Had whole(const std::string& source, const ReadOptions& options) const {
    return had_of([&] { return read_table(source, options); });
  }

  void expect_same(const std::string& source, const ReadOptions& options, int size) const {
    const Had one = whole(source, options);
    Had all;
    for (const Had& part : parts_of(source, options, size)) {
      EXPECT_EQ(part.error, one.error);
      EXPECT_EQ(part.columns, one.columns);
      all.rows += part.rows;
    }
    EXPECT_TRUE(all.rows == one.rows) << size << " processes";
  }

  ReadOptions raw() const { return {.raw = true, .threads = 1}; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("read_part_test." + std::to_string(::getpid()));
};

TEST_F(ReadPart, RandomTablesAreTheTableOrTheErrorOfOne) {
  Random random(11);
  int errors = 0;
  constexpr int kTables = 300;
  for (int i = 0; i < kTables; ++i) {
    const std::string content = random_table(random);
    write("t.csv", content);
    ReadOptions options = raw();
    options.refuses_gaps = random.below(8) == 0;
    if (random.below(3) == 0) options.known = {{"c0", ColumnKind::text, random.below(2) == 0}};
    errors += whole(path("t.csv"), options).error.empty() ? 0 : 1;
    expect_same(path("t.csv"), options, 2 + static_cast<int>(random.below(5)));
    expect_same(path("t.csv"), {.threads = 1}, 3);
    if (HasFailure()) FAIL() << content;
  }
  EXPECT_GT(errors, kTables / 10);
  EXPECT_LT(errors, kTables * 3 / 4);
}

TEST_F(ReadPart, FilesAreSharedWholeOrByBytes) {
  Random random(3);
  for (int i = 0; i < 5; ++i) {
    std::string text = "a,b,y\n";
    for (std::uint64_t row = 0; row < 1 + random.below(30); ++row) {
      text += fmt::format("{},{},{}\n", random.below(9), i == 3 && row > 4 ? "word" : "7", random.below(2));
    }
    write(fmt::format("p{}.csv", i), i == 2 ? "\n" + text + "\n\n" : text);
  }
  for (const int size : {2, 5, 7, 12}) expect_same(path("p*.csv"), raw(), size);
}

TEST_F(ReadPart, EachReadsItsOwnBytes) {
  std::string text = "a,b,y\n";
  for (int row = 0; row < 40000; ++row) text += fmt::format("{},{},{}\n", row, row % 7, row % 3);
  write("t.csv", text);
  for (const int size : {2, 4}) {
    const double share = static_cast<double>(text.size()) / size;
    const double most = share + (1 << 16) + 4096;  // rank 0 looks at the beginning; ends of lines are looked for
    for (const Had& part : parts_of(path("t.csv"), raw(), size)) {
      EXPECT_GT(static_cast<double>(part.bytes), share - 4096);
      EXPECT_LT(static_cast<double>(part.bytes), most);
    }
  }
}

TEST_F(ReadPart, AnotherHeaderIsNamedByAll) {
  write("p1.csv", "a,b,y\n1,2,3\n");
  write("p2.csv", "a,c,y\n1,2,3\n");
  write("p3.csv", "a,b,y\n1,2,3\n");
  for (const int size : {2, 3, 5}) {
    for (const Had& part : parts_of(path("p*.csv"), raw(), size)) {
      EXPECT_EQ(part.error, whole(path("p*.csv"), raw()).error);
      EXPECT_NE(part.error.find("p2.csv: line 1, column 2"), std::string::npos);
    }
  }
}

TEST_F(ReadPart, AFileThatAProcessHasNotIsNamed) {
  for (const std::string folder : {"one/", "two/"}) {
    std::filesystem::create_directory(path(folder));
    for (const char* name : {"p1.csv", "p2.csv", "p3.csv"}) write(folder + name, "a,b,y\n1,2,3\n");
  }
  const auto errors = [&] {
    return test::run_threads<Had>(3, [&](Communicator& communicator) {
      const std::string own = path(communicator.is_root() ? "one/" : "two/");
      return had_of([&] { return read_part(own + "p*.csv", raw(), communicator).value(); });
    });
  };
  for (const Had& part : errors()) EXPECT_EQ(part.error, "");  // in another folder
  std::filesystem::remove(path("two/p3.csv"));
  for (const Had& part : errors()) {
    EXPECT_NE(part.error.find("p3.csv: rank 2 has no such file"), std::string::npos) << part.error;
  }
  write("two/p3.csv", "a,b,y\n1,2,34\n");
  for (const Had& part : errors()) {
    EXPECT_NE(part.error.find("p3.csv: rank 2 finds 13 bytes, rank 0 12"), std::string::npos) << part.error;
  }
}

TEST_F(ReadPart, TargetsOfManyNumbersOrClassesAreThoseOfOne) {
  for (const char* start : {"", "c", "0."}) {
    std::string content = "a,y\n";
    for (int i = 0; i < 70000; ++i) content += "1," + (start + std::to_string(i)) + "\n";
    write("t.csv", content);
    expect_same(path("t.csv"), raw(), 3);
    write("t.csv", content + "1,class\n");
    expect_same(path("t.csv"), raw(), 3);
  }
}

TEST_F(ReadPart, MoreTextsThanAreCountedAreAnId) {
  constexpr int kManyTexts = (1 << 20) + 30000;  // no part has as many
  std::string content = "id,few,y\n";
  for (int i = 0; i < kManyTexts; ++i) content += fmt::format("n{},{},{}\n", i, i % 100, i % 3);
  write("t.csv", content);
  expect_same(path("t.csv"), raw(), 2);
}

TEST_F(ReadPart, BlocksOfAPackedTableAreShared) {
  std::string text = "a,b,y\n";
  for (int row = 0; row < 60000; ++row) text += fmt::format("{},{},{}\n", row, row % 7, row % 3);
  write("t.csv", text);
  pack_table(path("t.csv"), path("t.lrd"));
  for (const int size : {2, 3, 7}) expect_same(path("t.lrd"), raw(), size);
  const double share = 60000.0 * 2 * 8 / 2, rest = 2 * 60000 * 8 + 4096, block = 1 << 18;  // rest: target and header
  for (const Had& part : parts_of(path("t.lrd"), raw(), 2)) {
    EXPECT_LT(static_cast<double>(part.bytes), share + block + rest);
  }
}

TEST_F(ReadPart, JsonLinesAreTheTableOrTheErrorOfOne) {
  Random random(13);
  int errors = 0;
  constexpr int kTables = 150;
  for (int i = 0; i < kTables; ++i) {
    const std::uint64_t rows = 1 + random.below(60), change = random.below(60);
    const bool sparse = random.below(3) == 0, wrong = random.below(5) == 0;
    std::vector<std::string> lines;
    for (std::uint64_t row = 0; row < rows; ++row) {
      const char* const cell = row < change ? "\"2024-01-02\"" : random.below(2) == 0 ? "7" : "\"text\"";
      std::string line = fmt::format("{{\"a\": {}, ", random.below(9));
      if (!sparse || random.below(4) == 0) line += fmt::format("\"b\": {}, ", cell);
      if (row > change && random.below(9) == 0) line += "\"late\": 1, ";
      if (wrong && random.below(40) == 0) line += "\"c\": [], ";
      lines.push_back(line + fmt::format("\"y\": {}}}\n", random.below(2)));
    }
    std::string all;
    for (const std::string& line : lines) all += line;
    write("t.jsonl", all);
    for (std::size_t file = 0; file < 3; ++file) {
      std::string part = lines.front();
      for (std::size_t row = file; row < lines.size(); row += 3) part += lines[row];
      write(fmt::format("p{}.jsonl", file), part);
    }
    ReadOptions options = raw();
    options.refuses_gaps = random.below(6) == 0;
    errors += whole(path("t.jsonl"), options).error.empty() ? 0 : 1;
    expect_same(path("t.jsonl"), options, 2 + static_cast<int>(random.below(4)));
    expect_same(path("p*.jsonl"), options, 2 + static_cast<int>(random.below(3)));
    if (HasFailure()) FAIL() << all;
  }
  EXPECT_GT(errors, kTables / 10);
  EXPECT_LT(errors, kTables * 3 / 4);
}

TEST_F(ReadPart, WhatCanNotBeCutIsLeftToTheCaller) {
  write("t.libsvm", "1 1:2\n0 2:3\n");
  const auto none = test::run_threads<bool>(
      2, [&](Communicator& communicator) { return !read_part(path("t.libsvm"), raw(), communicator).has_value(); });
  EXPECT_TRUE(none[0] && none[1]);
}

}  // namespace
}  // namespace lipschitzlr::data
