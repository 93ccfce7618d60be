#include "lipschitzlr/data/catalogue/store.hpp"

#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "data/catalogue/http_server.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/sha256.hpp"
#include "lipschitzlr/data/catalogue/archive_reader.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

std::string energy_table(int rows) {
  std::string text = "X1,X2,X3,X4,X5,X6,X7,X8,Y1,Y2\n";
  for (int row = 0; row < rows; ++row) text += "1,2,3,4,5,6,7,8,9," + std::to_string(row) + "\n";
  return text;
}

std::string xz(const std::string& content) {
  std::string packed(content.size() + 1000, '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(content.data()),
                                    content.size(), reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  packed.resize(size);
  return packed;
}

class Store : public testing::Test {
 protected:
  static void SetUpTestSuite() { server = new HttpServer; }
  static void TearDownTestSuite() { delete server; }
  void SetUp() override {
    setenv("no_proxy", "127.0.0.1", 1);
    setenv("LIPSCHITZLR_DATA", (folder / "cache").c_str(), 1);
    fs::create_directories(folder / "given" / "deep");
  }
  void TearDown() override {
    unsetenv("LIPSCHITZLR_DATA");
    fs::remove_all(folder);
  }
  void give(const std::string& name, const std::string& content) {
    write_file_atomically(folder / "given" / name, content);
  }
  std::string given(const std::string& name) { return folder / "given" / name; }

  // A data set of three rows and two features behind the given page.
  Entry tiny(const std::string& page, Packing packing, const std::string& member = "") {
    const File file{.name = "tiny.csv", .address = server->url(page), .packing = packing, .member = member};
    return {"tiny", "Tiny", Task::regression, 3, 2, "here", "free", "", {{{file}, 3, 2, read_plain}}};
  }
  std::vector<std::string> in_cache() {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(folder / "cache" / "tiny")) names.push_back(file.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  static HttpServer* server;
  fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_obtain_" + std::to_string(getpid()));
};

HttpServer* Store::server = nullptr;

TEST_F(Store, EveryPackingArrivesAsTheFileItself) {
  for (const Entry& entry : {tiny("/table.csv", Packing::plain), tiny("/table.gz", Packing::compressed),
                             tiny("/table.tgz", Packing::archive, "folder/tiny.csv"),
                             tiny("/table.zip", Packing::archive, "folder/tiny.csv")}) {
    const std::vector<Obtained> got = get(entry, {.again = true});
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(read_file(got[0].path), kTable);
    EXPECT_EQ(got[0].sha256, sha256(kTable));
    EXPECT_NE(got[0].check.find("its checksum is now recorded"), std::string::npos);
    EXPECT_EQ(in_cache(), (std::vector<std::string>{"tiny.csv", "tiny.csv.sha256"}));
    EXPECT_EQ(read_file(got[0].path + ".sha256"), sha256(kTable) + "  tiny.csv\n");
    EXPECT_EQ(load(entry).rows(), 3);
  }
}

TEST_F(Store, WhatIsHereIsNotDownloadedAgain) {
  get(tiny("/table.csv", Packing::plain));
  EXPECT_EQ(get(tiny("/nothing", Packing::plain)).at(0).check, "already here");
  EXPECT_THROW(get(tiny("/nothing", Packing::plain), {.again = true}), Error);
  EXPECT_EQ(in_cache(), (std::vector<std::string>{"tiny.csv", "tiny.csv.sha256"}));
}

TEST_F(Store, ADownloadOfSomethingElseLeavesNothing) {
  Entry wrong_shape = tiny("/table.csv", Packing::plain);
  wrong_shape.sources[0].rows = 4;
  Entry wrong_checksum = tiny("/table.csv", Packing::plain);
  wrong_checksum.sources[0].files[0].exact = true;
  for (const Entry& entry : {wrong_shape, wrong_checksum, tiny("/good", Packing::archive, "folder/tiny.csv"),
                             tiny("/table.zip", Packing::archive, "other.csv"), tiny("/good", Packing::plain)}) {
    EXPECT_THROW(get(entry), Error);
    EXPECT_EQ(in_cache(), std::vector<std::string>{});
    EXPECT_EQ(place(entry), Place::absent);
  }
}

TEST_F(Store, ASetWithoutAnAddressAsksForAnImport) {
  Entry entry = tiny("", Packing::plain);
  entry.sources[0].files[0].address = "";
  try {
    get(entry);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("lipschitzlr data import FOLDER"), std::string::npos);
  }
}

TEST_F(Store, VerifyFindsAChange) {
  const Entry entry = tiny("/table.csv", Packing::plain);
  EXPECT_TRUE(verify(entry).empty());
  const std::string path = get(entry).at(0).path;
  EXPECT_TRUE(verify(entry).at(0).sound);
  write_file_atomically(path, "a,b,y\n1,2,3\n4,5,6\n7,8,0\n");
  EXPECT_FALSE(verify(entry).at(0).sound);
  EXPECT_NE(verify(entry).at(0).detail.find("has changed"), std::string::npos);
  fs::remove(path + ".sha256");
  EXPECT_NE(verify(entry).at(0).detail.find("not known"), std::string::npos);
  EXPECT_TRUE(verify(*find("iris")).at(0).sound);
}

// A forged file has the shape of the known one: only its checksum tells.
TEST_F(Store, AnotherChecksumThanTheKnownOneMustBeAccepted) {
  give("ENB2012_data.csv", energy_table(768));
  const ImportReport refused = import_folder(folder / "given");
  ASSERT_EQ(refused.files.size(), 1u);
  EXPECT_FALSE(refused.files[0].taken);
  EXPECT_NE(refused.files[0].reason.find("if you trust it, add --accept-unknown"), std::string::npos);
  EXPECT_EQ(place(*find("energy")), Place::absent);
  EXPECT_TRUE(import_folder(folder / "given", true).files.at(0).taken);
  EXPECT_FALSE(verify(*find("energy")).at(0).sound);
  EXPECT_TRUE(verify(*find("energy"), true).at(0).sound);
}

// A few kB that would unpack to 8 MB.
TEST_F(Store, ABombIsNotUnpacked) {
  give("ENB2012_data.csv.xz", xz(std::string(8 << 20, '0')));
  const ImportReport report = import_folder(folder / "given", true);
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_FALSE(report.files[0].taken);
  EXPECT_NE(report.files[0].reason.find("is larger than the data set can be: 1159168 bytes"), std::string::npos)
      << report.files[0].reason;
}

TEST_F(Store, ImportTakesPlainAndPackedFilesByNameAndShape) {
  give("deep/ENB2012_data.csv.xz", xz(energy_table(768)));
  give("readme.txt", "hello");
  const ImportReport report = import_folder(folder / "given", true);
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_TRUE(report.files[0].taken) << report.files[0].reason;
  EXPECT_EQ(report.files[0].file.name, "energy");
  EXPECT_EQ(report.unknown, 1u);
  EXPECT_EQ(load("energy").rows(), 768);
  EXPECT_EQ(read_file(path("energy")), energy_table(768));
  EXPECT_TRUE(verify(*find("energy"), true).at(0).sound);
}

TEST_F(Store, ImportSaysWhyItSkips) {
  give("ENB2012_data.csv", energy_table(700));
  give("cal_housing.data", "not,a,number\n");
  give("train-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\0", 8));
  give("a9a.xz", "this is not xz");
  const ImportReport report = import_folder(folder / "given", true);
  ASSERT_EQ(report.files.size(), 4u);
  for (const Imported& file : report.files) EXPECT_FALSE(file.taken) << file.found;
  EXPECT_NE(report.files[0].reason.find("has 700 rows"), std::string::npos) << report.files[0].reason;
  EXPECT_NE(report.files[3].reason.find("checksum"), std::string::npos) << report.files[3].reason;
  EXPECT_EQ(place(*find("energy")), Place::absent);
}

TEST_F(Store, TheFirstOfTwoCopiesIsTaken) {
  give("ENB2012_data.csv", energy_table(768));
  give("deep/ENB2012_data.csv", energy_table(768));
  const ImportReport report = import_folder(folder / "given", true);
  ASSERT_EQ(report.files.size(), 2u);
  EXPECT_NE(report.files[0].taken, report.files[1].taken);
}

TEST_F(Store, AMissingFolderIsAnError) {
  EXPECT_THROW(import_folder(folder / "nowhere"), Error);
  EXPECT_THROW(import_folder(folder / "given" / "file"), Error);
}

TEST_F(Store, ADamagedArchiveIsAnError) {
  give("archive.zip", "PK\x03\x04 and then nothing");
  EXPECT_THROW(read_member(given("archive.zip"), "x"), Error);
  EXPECT_THROW(read_member(given("missing.zip"), "x"), Error);
}

// With LIPSCHITZLR_SHARED_DATA set to a folder that holds the published files (and MNIST, if available).
TEST_F(Store, TheRealFilesGiveTheKnownNumbers) {
  const char* real = std::getenv("LIPSCHITZLR_SHARED_DATA");
  if (real == nullptr) GTEST_SKIP() << "LIPSCHITZLR_SHARED_DATA names no folder";
  for (const Imported& file : import_folder(real).files) {
    EXPECT_TRUE(file.taken) << file.found << ": " << file.reason;
    EXPECT_EQ(file.file.check, "known checksum") << file.found;
  }
  const auto norm = [](const Table& table) {
    const auto* const sparse = std::get_if<SparseMatrix<double>>(&table.features);
    return sparse != nullptr ? sparse->norm() : to_dense(table.features).norm();
  };
  // numpy.linalg.norm of the same tables read by numpy.loadtxt; a9a has as many ones as stored values.
  EXPECT_NEAR(norm(load("california")), 262210.4006834562, 1e-6);
  EXPECT_NEAR(norm(load("energy")), 21386.781077478678, 1e-8);
  EXPECT_NEAR(norm(load("news")), 165440702.23602363, 1e-3);
  EXPECT_NEAR(norm(load("covertype")), 1455625.0296353798, 1e-5);
  EXPECT_NEAR(norm(load("a9a")), std::sqrt(451592.0), 1e-9);
  EXPECT_NEAR(norm(load("a9a-test")), std::sqrt(225731.0), 1e-9);
  if (place(*find("mnist")) == Place::cached) {
    EXPECT_NEAR(norm(load("mnist")), 585312.5661960454, 1e-5);
  }
  for (const Entry& entry : entries()) {
    for (const Verdict& verdict : verify(entry)) EXPECT_TRUE(verdict.sound) << verdict.file << ": " << verdict.detail;
  }
}

}  // namespace
}  // namespace lipschitzlr::data::catalogue
