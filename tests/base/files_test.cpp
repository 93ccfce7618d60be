#include "lipschitzlr/base/files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

class Files : public testing::Test {
 protected:
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lipschitzlr_files";
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(Files, RoundTripAndNothingLeftBeside) {
  const std::string path = folder / "a.txt";
  write_file_atomically(path, "first");
  write_file_atomically(path, std::string("sec\0nd", 6));
  EXPECT_EQ(read_file(path), std::string("sec\0nd", 6));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(Files, EmptyFileIsEmpty) {
  write_file_atomically(folder / "empty", "");
  EXPECT_EQ(read_file(folder / "empty"), "");
}

TEST_F(Files, OfManyThatWriteANewFileOneSucceeds) {
  const std::string path = folder / "new.txt";
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      if (write_new_file(path, std::string(1000, static_cast<char>('a' + i)))) ++winners;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  const std::string content = read_file(path);
  EXPECT_EQ(content, std::string(1000, content[0]));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(Files, AMissingFolderIsNamed) {
  try {
    write_file_atomically(folder / "no" / "such" / "folder.json", "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    EXPECT_NE(std::string(error.what()).find("folder.json: can't write: No such file"), std::string::npos)
        << error.what();
  }
}

TEST_F(Files, ASymbolicLinkStaysOne) {
  write_file_atomically(folder / "real", "old");
  std::filesystem::create_symlink(folder / "real", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "real"), "new");
}

TEST_F(Files, WhatCannotBeWrittenIsKnownBefore) {
  std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
  std::filesystem::create_symlink("loop", folder / "loop");
  write_file_atomically(folder / "fixed", "old");
  std::filesystem::permissions(folder / "fixed", std::filesystem::perms::owner_read);
  for (const char* name : {"dangling", "loop", "fixed", "no/such", ""}) {
    EXPECT_THROW(check_writable(folder / name), Error) << name;
  }
  EXPECT_NO_THROW(check_writable(folder / "new"));
}

TEST_F(Files, APlantedLinkIsNotFollowed) {
  write_file_atomically(folder / "victim", "precious");
  const std::string foreseen = folder / ("a.json." + std::to_string(getpid()) + ".part");
  std::filesystem::create_symlink(folder / "victim", foreseen);
  write_file_atomically(folder / "a.json", "new");
  EXPECT_EQ(read_file(folder / "victim"), "precious");
  EXPECT_EQ(read_file(folder / "a.json"), "new");
}

TEST_F(Files, ALinkThatPointsToNothingIsRefused) {
  std::filesystem::create_symlink(folder / "nowhere", folder / "link");
  EXPECT_THROW(write_file_atomically(folder / "link", "new"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST_F(Files, TheModeIsKeptAndAReadOnlyFileToo) {
  using std::filesystem::perms;
  const std::filesystem::path path = folder / "secret";
  write_file_atomically(path, "old");
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
  write_file_atomically(path, "new");
  EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_read | perms::owner_write);
  std::filesystem::permissions(path, perms::owner_read);
  EXPECT_THROW(write_file_atomically(path, "newer"), Error);
  EXPECT_EQ(read_file(path), "new");
}

TEST_F(Files, ADeviceIsWrittenToNotReplaced) {
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THROW(write_file_atomically("/dev/full", "too much"), Error);
}

TEST_F(Files, WhatCantBeWrittenIsKnownBeforehand) {
  EXPECT_NO_THROW(check_writable(folder / "new.json"));
  EXPECT_NO_THROW(check_writable("new.json"));
  EXPECT_THROW(check_writable(folder / "no" / "such.json"), Error);
  EXPECT_THROW(check_writable(folder), Error);
}

TEST_F(Files, ReadingWhatIsNotAFileIsAnError) {
  EXPECT_THROW(read_file(folder / "missing"), Error);
  EXPECT_THROW(read_file(folder), Error);
}

}  // namespace
}  // namespace lipschitzlr
