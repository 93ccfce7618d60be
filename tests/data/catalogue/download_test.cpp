#include "lipschitzlr/data/catalogue/download.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "data/catalogue/http_server.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

// python3 -c "import hashlib; print(hashlib.sha256(bytes(range(256)) * 40).hexdigest())"
const char* const kSha256 = "e96760a87768717bcebcfd25ddc7d46b4dbc95a4b0014def080c08539f7d90d0";

std::string body() {
  std::string bytes;
  for (int i = 0; i < 10240; ++i) bytes += static_cast<char>(i);
  return bytes;
}

class Download : public testing::Test {
 protected:
  static void SetUpTestSuite() { server = new HttpServer; }
  static void TearDownTestSuite() { delete server; }
  void SetUp() override {
    setenv("no_proxy", "127.0.0.1", 1);
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  // The sentence of the error a download ends with.
  std::string complaint(const std::string& page, const DownloadOptions& options = {}) {
    try {
      download(server->url(page), target, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_FALSE(fs::exists(target));
      return error.what();
    }
    return "no error";
  }
  void write_part(const std::string& content) {
    fs::create_directories(folder);
    write_file_atomically(part, content);
  }

  static HttpServer* server;
  fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_fetch_" + std::to_string(getpid()));
  std::string target = folder / "new" / "file.bin";
  std::string part = target + ".part";
};

HttpServer* Download::server = nullptr;

bool contains(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST_F(Download, AGoodFileArrivesWholeWithItsChecksumAndProgress) {
  std::uint64_t received = 0, total = 0;
  DownloadOptions options{.sha256 = kSha256, .size = 10240};
  options.progress = [&](std::uint64_t now, std::uint64_t all) { received = now, total = all; };
  const Downloaded got = download(server->url("/good"), target, options);
  EXPECT_EQ(read_file(target), body());
  EXPECT_EQ(got.sha256, kSha256);
  EXPECT_EQ(got.size, 10240u);
  EXPECT_EQ(received, 10240u);
  EXPECT_EQ(total, 10240u);
  EXPECT_FALSE(fs::exists(part));
}

TEST_F(Download, RedirectsAreFollowedUpToALimit) {
  download(server->url("/redirect"), target, {.sha256 = kSha256});
  EXPECT_EQ(read_file(target), body());
  fs::remove(target);
  EXPECT_TRUE(contains(complaint("/circle"), "redirects more than 5 times"));
}

TEST_F(Download, ARedirectToAnotherProtocolIsRefused) {
  EXPECT_TRUE(contains(complaint("/elsewhere"), "only http and https"));
  EXPECT_THROW(download("file:///etc/hostname", target), Error);
}

TEST_F(Download, WhatIsAskedForByHttpsMustComeByHttps) {
  EXPECT_EQ(redirect_protocols("https://example.org/file"), "https");
  EXPECT_EQ(redirect_protocols("http://example.org/file"), "http,https");
}

TEST_F(Download, AFileThatIsTooLargeIsStopped) {
  EXPECT_TRUE(contains(complaint("/good", {.most = 10239}), "has more than 10239 bytes"));
  EXPECT_TRUE(contains(complaint("/endless", {.most = 10239}), "has more than 10239 bytes"));
  EXPECT_FALSE(fs::exists(part));
  EXPECT_EQ(complaint("/good", {.most = 10240}), "no error");
}

TEST_F(Download, APlantedLinkIsNotFollowed) {
  fs::create_directories(fs::path(target).parent_path());
  write_file_atomically(folder / "victim", "precious");
  fs::create_symlink(folder / "victim", part);
  EXPECT_THROW(download(server->url("/good"), target), Error);
  EXPECT_EQ(read_file(folder / "victim"), "precious");
}

TEST_F(Download, AMissingFileIsSaidToBeMissing) {
  EXPECT_TRUE(contains(complaint("/nothing"), "no such file (404)"));
  EXPECT_FALSE(fs::exists(part));
}

TEST_F(Download, AServerThatIsNotThereIsAnError) {
  EXPECT_THROW(download("http://127.0.0.1:1/file", target, {.connect_seconds = 2}), Error);
}

TEST_F(Download, AWrongChecksumOrSizeDiscardsTheFile) {
  const std::string other(64, '0');
  EXPECT_TRUE(contains(complaint("/good", {.sha256 = other}), "instead of " + other));
  EXPECT_FALSE(fs::exists(part));
  EXPECT_TRUE(contains(complaint("/good", {.size = 7}), "has 10240 bytes instead of 7"));
  EXPECT_FALSE(fs::exists(part));
}

TEST_F(Download, AnOldFileSurvivesAFailedDownload) {
  fs::create_directories(fs::path(target).parent_path());
  write_file_atomically(target, "old");
  EXPECT_THROW(download(server->url("/truncated"), target), Error);
  EXPECT_EQ(read_file(target), "old");
}

TEST_F(Download, ACutFileIsContinuedWhereItStopped) {
  EXPECT_TRUE(contains(complaint("/truncated", {.sha256 = kSha256}), "cut after 4000 bytes"));
  EXPECT_EQ(read_file(part), body().substr(0, 4000));
  std::uint64_t received = 0;
  DownloadOptions options{.sha256 = kSha256};
  options.progress = [&](std::uint64_t now, std::uint64_t) { received = now; };
  download(server->url("/range"), target, options);  // fails when no range is asked for
  EXPECT_EQ(read_file(target), body());
  EXPECT_EQ(received, 10240u);
}

TEST_F(Download, AServerThatIgnoresRangesSendsAllAgain) {
  fs::create_directories(fs::path(target).parent_path());
  write_part("abc");
  download(server->url("/good"), target, {.sha256 = kSha256});
  EXPECT_EQ(read_file(target), body());
}

TEST_F(Download, APartThatIsTooLongIsBegunAgain) {
  fs::create_directories(fs::path(target).parent_path());
  write_part(body() + "more");
  download(server->url("/whole"), target, {.sha256 = kSha256});
  EXPECT_EQ(read_file(target), body());
}

TEST_F(Download, WithoutAChecksumNothingIsContinued) {
  fs::create_directories(fs::path(target).parent_path());
  write_part("abc");
  EXPECT_TRUE(contains(complaint("/range"), "error 500"));
  download(server->url("/good"), target);
  EXPECT_EQ(read_file(target), body());
}

TEST_F(Download, APartFromAnotherFileIsFoundByTheChecksum) {
  fs::create_directories(fs::path(target).parent_path());
  write_part(std::string(4000, 'x'));
  EXPECT_TRUE(contains(complaint("/range", {.sha256 = kSha256}), "it was discarded"));
  EXPECT_FALSE(fs::exists(part));
}

TEST_F(Download, AServerThatHangsRunsIntoTheTimeOut) {
  for (const char* page : {"/hang", "/stall"}) {
    EXPECT_TRUE(contains(complaint(page, {.stall_seconds = 1}), "sent nothing for 1 s")) << page;
  }
}

}  // namespace
}  // namespace lipschitzlr::data
