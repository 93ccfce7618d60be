#include "lipschitzlr/data/image/cifar.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

// Each colour of a pixel is a number of its own: place modulo 251 (a prime), the colours 17 apart.
char colour_at(std::size_t pixel, std::size_t colour) { return static_cast<char>((pixel + 17 * colour) % 251); }

std::string record(const std::string& labels) {
  std::string bytes = labels;
  for (std::size_t colour = 0; colour < 3; ++colour) {
    for (std::size_t pixel = 0; pixel < 1024; ++pixel) bytes.push_back(colour_at(pixel, colour));
  }
  return bytes;
}

std::string cifar_error(const std::string& content, Cifar kind = Cifar::ten) {
  try {
    parse_cifar(content, "batch", kind);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "no error";
}

TEST(Cifar, TheColoursOfAPixelComeToStandSideBySide) {
  const ImageSet set = parse_cifar(record("\x03") + record("\x09"), "batch", Cifar::ten);
  EXPECT_EQ(set.labels, (std::vector<std::int32_t>{3, 9}));
  EXPECT_EQ((std::vector<Index>{set.height, set.width, set.channels}), (std::vector<Index>{32, 32, 3}));
  ASSERT_EQ(set.pixels.size(), 2u * 3072);
  for (std::size_t place = 0; place < set.pixels.size(); ++place) {
    ASSERT_EQ(static_cast<char>(set.pixels[place]), colour_at(place % 3072 / 3, place % 3)) << place;
  }
  EXPECT_EQ(set.classes[3], "cat");
  EXPECT_EQ(set.classes[9], "truck");
}

TEST(Cifar, OfAHundredTheFineLabelCounts) {
  const ImageSet set = parse_cifar(record("\x13\x63") + record("\x0b\x05"), "batch", Cifar::hundred);
  EXPECT_EQ(set.labels, (std::vector<std::int32_t>{99, 5}));
  EXPECT_EQ(set.classes[99], "worm");
  const std::vector<std::string>& names = cifar_classes(Cifar::hundred);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 100u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(Cifar, DamageIsNamedWithItsPlace) {
  const std::string one = record("\x01");
  EXPECT_EQ(cifar_error(""), "batch: is empty");
  EXPECT_EQ(cifar_error("hello"),
            "batch: ends at byte 5, inside record 0 (a record of CIFAR-10 has 3073 bytes); it is not a file of images");
  EXPECT_EQ(cifar_error(one + one.substr(0, 100)),
            "batch: ends at byte 3173, inside record 1 (a record of CIFAR-10 has 3073 bytes); it is cut short, or no "
            "file of images");
  EXPECT_EQ(cifar_error(one + record("\x0a")), "batch: record 1 (byte 3073) has the label 10, expected 0 to 9");
  EXPECT_EQ(cifar_error(record("\x14\x01"), Cifar::hundred),
            "batch: record 0 (byte 0) has the label 20, expected 0 to 19");
  EXPECT_EQ(cifar_error(record("\x13\x01") + record("\x13\x64"), Cifar::hundred),
            "batch: record 1 (byte 3075) has the label 100, expected 0 to 99");
}

TEST(Cifar, FilesOfTheOtherSetAreRecognised) {
  EXPECT_EQ(cifar_error(record("\x01\x01")),
            "batch: ends at byte 3074, inside record 1 (a record of CIFAR-10 has 3073 bytes); its size is that of a "
            "file of CIFAR-100");
  EXPECT_EQ(cifar_error(record("\x01") + record("\x01"), Cifar::hundred),
            "batch: ends at byte 6146, inside record 1 (a record of CIFAR-100 has 3074 bytes); its size is that of a "
            "file of CIFAR-10");
}

TEST(Cifar, SeveralFilesAreOneSet) {
  const fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_cifar_" + std::to_string(getpid()));
  fs::create_directories(folder);
  write_file_atomically(folder / "one", record("\x01") + record("\x02"));
  write_file_atomically(folder / "two", record("\x03"));
  EXPECT_EQ(read_cifar({folder / "one", folder / "two"}, Cifar::ten).labels, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_THROW(read_cifar({folder / "one", folder / "three"}, Cifar::ten), Error);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lipschitzlr::data
