#include "lipschitzlr/data/table/packed.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/table/packed_format.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

class Packed : public testing::Test {
 protected:
  Packed() { std::filesystem::create_directory(folder_); }
  ~Packed() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // The bytes of the packed table of this text.
  std::string pack(const std::string& text, const ReadOptions& options = {}) const {
    write_file_atomically(path("t.csv"), text);
    pack_table(path("t.csv"), path("t.lrd"), options);
    return read_file(path("t.lrd"));
  }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("packed_test." + std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
                                   "." + std::to_string(::getpid()));
};

const DenseMatrix<double>& dense(const Table& table) { return std::get<DenseMatrix<double>>(table.features); }

void expect_same(const Table& one, const Table& other) {
  EXPECT_EQ(dense(one), dense(other));
  EXPECT_EQ(one.target, other.target);
  EXPECT_EQ(one.labels, other.labels);
  EXPECT_EQ(one.feature_names, other.feature_names);
  EXPECT_EQ(one.has_names, other.has_names);
  EXPECT_EQ(one.target_name, other.target_name);
  EXPECT_EQ(one.target_column, other.target_column);
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(std::string_view bytes) {
  return message_of([&] { PackedTable::in_memory(bytes, "t.lrd").rows().dense(); });
}

const char* const kSmall = "height,kind,weight\n1,a,2.5\n-3,b,1e300\n0.1,a,4\n";

TEST_F(Packed, HasTheTableOfTheText) {
  std::string numbers, classes = "x,y,kind,z\n";
  for (int i = 0; i < 30000; ++i) {  // of several blocks
    numbers += std::to_string(i) + "," + std::to_string(i * 0.37) + "," + std::to_string(i % 7 * 0.5) + "\n";
    classes += std::to_string(-i) + "," + std::to_string(i * i) + (i % 3 == 0 ? ",no," : ",yes,") + "1\n";
  }
  for (const std::string& text : {std::string(kSmall), numbers, classes}) {
    ReadOptions options;
    if (text == classes) options.target = "kind";
    if (text == kSmall) options.target = "2";
    const std::string bytes = pack(text, options);
    const Table expected = parse_table(text, "t.csv", options);
    expect_same(read_table(path("t.lrd")), expected);
    expect_same(parse_table(bytes, "t.lrd"), expected);
  }
}

TEST_F(Packed, RowsAreReadInAnyOrder) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + "," + std::to_string(2 * i) + ",0\n";
  pack(text);
  const StreamedRows<double> rows = PackedTable::open(path("t.lrd")).rows();
  EXPECT_EQ(rows.take(std::vector<Index>{19999, 5, 6, 7, 0}).dense(),
            (DenseMatrix<double>{{19999, 39998}, {5, 10}, {6, 12}, {7, 14}, {0, 0}}));
}

TEST_F(Packed, ItsHeaderHasTheSumsOfItsColumns) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 0.1) + "," + std::to_string(i % 11 - 5.3) + ",0\n";
  pack(text);
  const StreamedRows<double> rows = PackedTable::open(path("t.lrd")).rows();
  std::vector<Index> all(20000);
  std::iota(all.begin(), all.end(), Index{0});
  const ColumnSums known = rows.column_sums(), computed = rows.take(all).column_sums();
  for (const auto& [name, member] : kPackedSums) {
    EXPECT_TRUE((known.*member == computed.*member).all()) << name;
  }
  EXPECT_DOUBLE_EQ(known.sum[0], 0.1 * 20000 * 19999 / 2);
  EXPECT_EQ(known.low[1], -5.3);
}

TEST_F(Packed, ScatteredRowsAreThoseOfTheFile) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + "," + std::to_string(2 * i) + ",0\n";
  pack(text);
  const StreamedRows<double> rows = PackedTable::open(path("t.lrd")).rows();
  std::vector<Index> some;
  for (Index row = 0; row < 20000; row += 1 + row % 7 + (row % 1000 == 0 ? 3000 : 0)) some.push_back(row);
  some.insert(some.end(), {5, 5, 4, 19999, 0});
  const DenseMatrix<double> made = rows.take(some).dense();
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(made(static_cast<Index>(i), 1), 2.0 * static_cast<double>(some[i]));
  }
}

TEST_F(Packed, ATableLargerThanTheMemoryIsStreamed) {
  pack(kSmall, {.target = "kind"});
  const auto streamed = [&](const ReadOptions& options) {
    return std::holds_alternative<StreamedRows<double>>(read_table(path("t.lrd"), options).features);
  };
  EXPECT_FALSE(streamed({}));
  EXPECT_FALSE(streamed({.memory = 48}));
  EXPECT_TRUE(streamed({.memory = 47}));
  EXPECT_TRUE(streamed({.memory = 48, .copies = 2}));
  const Table table = read_table(path("t.lrd"), {.memory = 1});
  EXPECT_NE(message_of([&] { to_dense(table.features); }).find("larger --memory"), std::string::npos);
  EXPECT_EQ(table.target, read_table(path("t.lrd")).target);
}

TEST_F(Packed, ColumnsCanBeLeftOutAndTheTargetToo) {
  ReadOptions options;
  options.ignore = {"kind"};
  options.has_target = false;
  const Table table = parse_table(pack(kSmall, options), "t.lrd", {.has_target = false});
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"height", "weight"}));
  EXPECT_EQ(table.places, (std::vector<Index>{0, 2}));
  EXPECT_EQ(table.width, 3);
  EXPECT_EQ(table.target.size(), 0);
  EXPECT_NE(message_of([&] { read_table(path("t.lrd")); }).find("no target"), std::string::npos);
}

TEST_F(Packed, EveryByteThatIsChangedIsNoticed) {
  const std::string bytes = pack(kSmall, {.target = "kind"});
  ASSERT_EQ(refusal_of(bytes), "");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {1, 128, 255}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      EXPECT_NE(refusal_of(changed), "") << i;
      EXPECT_NE(message_of([&] { parse_table(changed, "t.lrd"); }), "") << i;
    }
  }
}

TEST_F(Packed, AFileThatIsCutOffOrLongerIsRefused) {
  const std::string bytes = pack(kSmall, {.target = "kind"});
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_NE(refusal_of(bytes.substr(0, size)), "") << size;
  for (std::size_t size = 1; size < bytes.size(); ++size) EXPECT_NE(refusal_of(bytes.substr(size)), "") << size;
  EXPECT_NE(refusal_of(bytes + bytes), "");
  EXPECT_NE(refusal_of(bytes + '\0'), "");
}

// The file with a header and numbers of somebody else, and the checksums that belong to them.
std::string forged(const nlohmann::json& header, const std::vector<double>& features,
                   const std::vector<double>& targets) {
  const std::string_view rows = bytes_of(features.data(), features.size());
  const std::string_view column = bytes_of(targets.data(), targets.size());
  std::string sums;
  append_number(sums, checksum_of(rows));
  append_number(sums, checksum_of(column));
  return packed_start() + std::string(rows) + std::string(column) + packed_end(sums, header.dump());
}

TEST_F(Packed, WhatAHeaderSaysIsCheckedAgainstTheFile) {
  const nlohmann::json good = {{"rows", 2},          {"columns", 2},        {"block_rows", 8},
                               {"has_target", true}, {"names", {"a", "b"}}, {"has_names", true},
                               {"target_name", "c"}, {"target_column", 2},  {"labels", {"no", "yes"}}};
  const std::vector<double> numbers = {1, 2, 3, 4}, classes = {0, 1};
  ASSERT_EQ(refusal_of(forged(good, numbers, classes)), "");
  const std::pair<const char*, nlohmann::json> changes[] = {{"rows", 0},
                                                            {"rows", -2},
                                                            {"rows", 3},
                                                            {"rows", 1e300},
                                                            {"rows", "2"},
                                                            {"columns", 0},
                                                            {"columns", 4},
                                                            {"rows", 1LL << 61},
                                                            {"block_rows", 0},
                                                            {"block_rows", 1},
                                                            {"names", {"a"}},
                                                            {"names", {"a", "a"}},
                                                            {"names", {"a", 1}},
                                                            {"names", nullptr},
                                                            {"labels", {"no"}},
                                                            {"labels", "no"},
                                                            {"labels", {"x", "x"}},
                                                            {"has_target", false},
                                                            {"block_rows", 1LL << 62},
                                                            {"width", 3},
                                                            {"width", -1},
                                                            {"places", {0, 1}},
                                                            {"places", "0"},
                                                            {"sums", 1},
                                                            {"sums", {{"sum", {1, 2}}}}};
  for (const auto& [key, value] : changes) {
    nlohmann::json changed = good;
    changed[key] = value;
    EXPECT_NE(refusal_of(forged(changed, numbers, classes)), "") << key << " " << value;
  }
  EXPECT_NE(refusal_of(forged(nlohmann::json::array(), numbers, classes)), "");
  EXPECT_NE(refusal_of(forged(good, {1, 2, 3, NAN}, classes)), "");
  EXPECT_NE(refusal_of(forged(good, {1, 2, 3, INFINITY}, classes)), "");
  for (const double wrong : {2.0, -1.0, 0.5, std::nan("")})
    EXPECT_NE(refusal_of(forged(good, numbers, {0, wrong})), "");
}

TEST_F(Packed, ItsTargetAndColumnsAreThoseOfThePacking) {
  pack(kSmall, {.target = "kind"});
  EXPECT_NO_THROW(read_table(path("t.lrd"), {.target = "kind"}));
  const ReadOptions other{.target = "weight"}, fewer{.only = {"height"}};
  for (const ReadOptions& options : {other, fewer}) {
    EXPECT_NE(message_of([&] { read_table(path("t.lrd"), options); }).find("pack it again"), std::string::npos);
  }
}

TEST_F(Packed, APackingThatFailsLeavesWhatWasThere) {
  const std::string before = pack(kSmall, {.target = "kind"});
  for (const char* text : {"a,b\n1,2\nx,3\n", "a,b\n", "", "1 2:3\n", "a,b\n,1\n"}) {
    EXPECT_THROW(pack(text), Error) << text;
    EXPECT_EQ(read_file(path("t.lrd")), before);
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(path(""))) ++files;
  EXPECT_EQ(files, 2u);
}

}  // namespace
}  // namespace lipschitzlr::data
