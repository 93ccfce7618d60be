#include "lipschitzlr/data/table/read.hpp"

#include <gtest/gtest.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string xz(std::string_view text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                    text.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  packed.resize(size);
  return packed;
}

// Enough for several blocks and several pieces of packed input.
constexpr int kRows = 20000;

std::string large_table() {
  std::string text = "a,b,y\n";
  for (int i = 0; i < kRows; ++i) {
    text += std::to_string(i) + "," + std::to_string(i * 2654435761U) + "," + std::to_string(i % 7) + "\n";
  }
  return text;
}

void expect_large_table(const Table& table) {
  const auto& features = std::get<DenseMatrix<double>>(table.features);
  ASSERT_EQ(features.rows(), kRows);
  for (int i = 0; i < kRows; ++i) {
    ASSERT_EQ(features(i, 0), i);
    ASSERT_EQ(features(i, 1), i * 2654435761U);
    ASSERT_EQ(table.target[i], i % 7);
  }
}

std::string reading_error(std::string_view content) {
  try {
    parse_table(content, "t");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "no error";
}

class ReadFromDisk : public testing::Test {
 protected:
  ReadFromDisk() : folder_(std::filesystem::temp_directory_path() / ("lipschitzlr_read_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~ReadFromDisk() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(ReadFromDisk, PlainAndPackedFilesGiveTheSameTableWhateverTheirNames) {
  const std::string text = large_table();
  expect_large_table(read_table(write("plain.gz", text)));
  expect_large_table(read_table(write("packed.csv", gzip(text))));
  expect_large_table(read_table(write("packed", xz(text))));
}

TEST_F(ReadFromDisk, APipeIsAsGoodAsAFile) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& content : {large_table(), gzip(large_table()), xz(large_table())}) {
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << content; });
    const Table table = read_table(pipe);
    writer.join();
    expect_large_table(table);
  }
}

TEST_F(ReadFromDisk, StandardInputIsADash) {
  const std::string file = write("input", gzip(large_table()));
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(file.c_str(), "rb", stdin), nullptr);
  const Table table = read_table("-");
  dup2(saved, STDIN_FILENO);
  close(saved);
  expect_large_table(table);
}

TEST_F(ReadFromDisk, WhatCanNotBeReadSaysWhy) {
  try {
    read_table(path("absent.csv"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path("absent.csv") + ": can't be opened: No such file or directory");
    EXPECT_EQ(error.fault(), Fault::data);
  }
  try {
    read_table(path(""));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path("") + ": can't be read: Is a directory");
  }
}

TEST(Read, CsvAndLibsvmAreToldApartByLooking) {
  const auto is_sparse = [](const char* content) { return parse_table(content, "t").features.index() == 1; };
  EXPECT_TRUE(is_sparse("+1 1:2\n"));
  EXPECT_TRUE(is_sparse("# c\n\n1\n0\n2 3:4\n"));
  EXPECT_FALSE(is_sparse("1 2\n"));
  EXPECT_FALSE(is_sparse("a:b y:z\n1 2\n"));
  EXPECT_FALSE(is_sparse("1,12:30\n2,12:45\n"));
}

TEST(Read, ConcatenatedAndPaddedPackedFilesAreRead) {
  const std::string zeros(1000, '\0');
  EXPECT_EQ(parse_table(gzip("a,y\n1,") + gzip("2\n3,4\n"), "t").rows(), 2);
  EXPECT_EQ(parse_table(gzip("a,y\n1,2\n") + zeros, "t").rows(), 1);
  EXPECT_EQ(parse_table(xz("a,y\n1,") + xz("2\n3,4\n"), "t").rows(), 2);
}

TEST(Read, PackedFilesCutShortOrDamagedAreErrors) {
  const std::string text = large_table();
  for (const bool is_gzip : {true, false}) {
    const std::string packed = is_gzip ? gzip(text) : xz(text);
    const std::string kind = is_gzip ? "t: the gzip file " : "t: the xz file ";
    for (std::size_t size : {std::size_t{7}, packed.size() / 2, packed.size() - 1}) {
      EXPECT_EQ(reading_error(packed.substr(0, size)), kind + "ends too early: get it again") << size;
    }
    std::string damaged = packed;
    for (std::size_t i = 0; i < 64; ++i) damaged[packed.size() / 2 + i] = static_cast<char>(i * 37);
    EXPECT_NE(reading_error(damaged), "no error");
    damaged = packed;
    damaged[packed.size() - (is_gzip ? 6 : 9)] ^= 1;  // the checksum
    EXPECT_EQ(reading_error(damaged), kind + "is damaged: get it again");
  }
  EXPECT_EQ(reading_error(gzip("a,y\n1,2\n") + "more"),
            "t: the gzip file continues with something else after its end: get it again");
}

TEST(Read, OtherArchivesAreRefusedByName) {
  EXPECT_EQ(reading_error("PK\x03\x04zzzz"), "t: the archive ends too early: get it again");
  EXPECT_EQ(reading_error("BZh91AY"), "t: this is a bzip2 file: give it as plain text (UTF-8), .gz, .xz or .zst");
  EXPECT_EQ(reading_error(gzip(gzip("a,y\n1,2\n"))).substr(0, 7), "t: byte");
}

TEST(Read, WhatUnpacksToFarTooMuchIsRefused) {
  const std::string text = "1,2\n3,4\n" + std::string(80 << 20, '\n');
  for (const std::string& packed : {gzip(text), xz(text)}) {
    try {
      parse_table(packed, "t");
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "t: unpacks to more than 200 times its size: unpack it yourself if you trust it");
    }
  }
}

}  // namespace
}  // namespace lipschitzlr::data
