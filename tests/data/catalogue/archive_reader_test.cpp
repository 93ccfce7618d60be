#include "lipschitzlr/data/catalogue/archive_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "data/catalogue/archive_writer.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

class Archive : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  void expect_complaint(const std::string& path, const std::string& member, const std::string& words) {
    try {
      read_member(path, member);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_archive_" + std::to_string(getpid()));
};

TEST_F(Archive, MembersComeInTheOrderAskedFor) {
  const std::string path = folder / "a.tgz";
  write_tgz(path, {{"package/one", "1"}, {"package/two", std::string(100000, '2')}, {"package/three", "3"}});
  EXPECT_EQ(read_members(path, {"package/three", "package/one"}), (std::vector<std::string>{"3", "1"}));
  EXPECT_EQ(read_member(path, "package/two").size(), 100000u);
  EXPECT_EQ(read_members(path, {"package/one", "package/one"}), (std::vector<std::string>{"1", "1"}));
  expect_complaint(path, "package/four", "holds no file package/four");
}

TEST_F(Archive, ADebianPackageIsWhatItInstalls) {
  const std::string path = folder / "a.deb";
  write_deb(path, {{"./usr/share/a", "A"}, {"./usr/share/b", "B"}});
  EXPECT_EQ(read_members(path, {"usr/share/b", "usr/share/a"}), (std::vector<std::string>{"B", "A"}));
  expect_complaint(path, "usr/share/c", "holds no file usr/share/c");
}

// libarchive can't unpack these two by itself.
TEST_F(Archive, NoOtherProgramIsStartedToUnpackAFile) {
  const fs::path started = folder / "started";
  for (const char* program : {"lrzip", "grzip"}) {
    write_file_atomically(folder / program, "#!/bin/sh\ntouch " + started.string() + "\n");
    fs::permissions(folder / program, fs::perms::owner_all);
  }
  const std::string before = std::getenv("PATH");
  setenv("PATH", (folder.string() + ":" + before).c_str(), 1);
  const std::string path = folder / "packed";
  using namespace std::string_literals;
  for (const std::string& signature : {"LRZI\0\6"s, "GRZipII\0\2\4:)"s}) {
    write_file_atomically(path, signature + std::string(1000, 'x'));
    EXPECT_THROW(read_member(path, "a"), Error);
  }
  setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(fs::exists(started));
}

// Of one of them libarchive can't say what is wrong.
TEST_F(Archive, WhatTheFuzzerBeginsWithIsReadOrRefused) {
  int read = 0, refused = 0;
  for (const auto& file : fs::directory_iterator(fs::path(LIPSCHITZLR_TEST_DIR) / "../fuzz/corpus/archive")) {
    try {
      read_members(file.path(), {"a", "folder/b"});
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(Archive, ACutArchiveIsAnError) {
  for (const char* name : {"a.deb", "a.tgz"}) {
    const std::string path = folder / name;
    const Members members = {{"one", "1"}, {"two", std::string(10000, '2')}};
    name[2] == 'd' ? write_deb(path, members) : write_tgz(path, members);
    const std::string whole = read_file(path);
    write_file_atomically(path, whole.substr(0, whole.size() * 2 / 3));
    EXPECT_THROW(read_member(path, "two"), Error) << name;
    write_file_atomically(path, "");
    EXPECT_THROW(read_member(path, "two"), Error) << name;
  }
}

}  // namespace
}  // namespace lipschitzlr::data
