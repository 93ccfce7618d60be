#include "lipschitzlr/base/sha256.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr {
namespace {

// The examples of FIPS 180-4, and lengths around the padding's edges by: printf 'a%.0s' $(seq N) | sha256sum
TEST(Checksum, PublishedExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Checksum, LengthsAroundTheEdgesOfABlock) {
  EXPECT_EQ(sha256(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Checksum, PiecesGiveTheSameAsTheWhole) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7);
  Sha256 sum;
  for (std::size_t start = 0, size = 1; start < bytes.size(); start += size, size = size % 97 + 13) {
    size = std::min(size, bytes.size() - start);
    sum.add(std::string_view(bytes).substr(start, size));
  }
  EXPECT_EQ(sum.finish(), sha256(bytes));
}

TEST(Checksum, OfAFileAndOfNone) {
  const std::string path = std::filesystem::path(testing::TempDir()) / "lipschitzlr_checksum";
  write_file_atomically(path, std::string(200000, 'x'));
  EXPECT_EQ(sha256_of_file(path), sha256(std::string(200000, 'x')));
  std::filesystem::remove(path);
  EXPECT_THROW(sha256_of_file(path), Error);
  EXPECT_THROW(sha256_of_file(testing::TempDir()), Error);
}

}  // namespace
}  // namespace lipschitzlr
