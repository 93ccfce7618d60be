#include "lipschitzlr/data/image/image_sources.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "data/image/png_writer.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

class ImageSources : public testing::Test {
 protected:
  void SetUp() override {
    setenv("LIPSCHITZLR_DATA", (folder / "cache").c_str(), 1);
    fs::create_directories(folder);
  }
  void TearDown() override {
    unsetenv("LIPSCHITZLR_DATA");
    fs::remove_all(folder);
  }
  void put(const std::string& name, const std::string& content) {
    fs::create_directories((folder / name).parent_path());
    write_file_atomically(folder / name, content);
  }
  void expect_complaint(Fault fault, const std::string& source, Part part, const std::string& words) {
    try {
      load_images(source, part);
      ADD_FAILURE() << source << ": no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_sources_" + std::to_string(getpid()));
};

TEST_F(ImageSources, TheNamesAreThoseOfTheTrainingParts) {
  EXPECT_EQ(image_set_names(), (std::vector<std::string>{"mnist", "fashion-mnist", "cifar10", "cifar100"}));
}

TEST_F(ImageSources, AFolderIsReadAsPngFilesByClass) {
  put("mine/a/1.png", grey_png(2, 2, 3));
  EXPECT_EQ(load_images(folder / "mine", Part::train).count(), 1);
  EXPECT_EQ(load_images(folder / "mine", Part::test).count(), 0);
}

TEST_F(ImageSources, WhatIsNotThereTellsHowToGetIt) {
  expect_complaint(Fault::data, "cifar10", Part::train, "lipschitzlr data get cifar10");
  expect_complaint(Fault::data, "cifar10", Part::test, "lipschitzlr data get cifar10-test");
  expect_complaint(Fault::data, folder / "nowhere", Part::train, "there is no such folder, and no image set");
  put("file", "text");
  expect_complaint(Fault::data, folder / "file", Part::train, "is a file, expected a folder");
  expect_complaint(Fault::usage, "iris", Part::train, "iris holds no images; those that do are mnist");
  expect_complaint(Fault::usage, "mnist-test", Part::train, "mnist-test is the test part of mnist");
}

TEST_F(ImageSources, ACachedSetWithTooFewImagesIsRefused) {
  const std::string one_record(3073, '\x01');
  for (int batch = 1; batch <= 5; ++batch)
    put("cache/cifar10/data_batch_" + std::to_string(batch) + ".bin", one_record);
  expect_complaint(Fault::data, "cifar10", Part::train, "has 5 images of 3072 bytes, expected 50000 of 3072");
}

// The real sets, where they are in the user's cache. Sums by NumPy: pixels.sum(dtype=int64) of the published files.
class RealImages : public testing::TestWithParam<std::tuple<const char*, Part, Index, std::uint64_t>> {};

TEST_P(RealImages, HaveTheKnownSums) {
  const auto [name, part, count, sum] = GetParam();
  const catalogue::Entry& train = catalogue::entry(name);
  if (catalogue::place(part == Part::train ? train : catalogue::entry(train.companion)) != catalogue::Place::cached) {
    GTEST_SKIP() << "needs `lipschitzlr data get " << name << "`";
  }
  const ImageSet set = load_images(name, part);
  EXPECT_EQ(set.count(), count);
  std::uint64_t total = 0;
  for (std::uint8_t pixel : set.pixels) total += pixel;
  EXPECT_EQ(total, sum);
  // Every class has as many images as any other, but for the digits.
  std::vector<Index> sizes(set.classes.size());
  for (std::int32_t label : set.labels) ++sizes.at(static_cast<std::size_t>(label));
  if (std::string(name) != "mnist") {
    EXPECT_EQ(sizes, std::vector<Index>(sizes.size(), count / static_cast<Index>(sizes.size())));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sets, RealImages,
    testing::Values(std::make_tuple("mnist", Part::train, Index{60000}, std::uint64_t{1567298545}),
                    std::make_tuple("mnist", Part::test, Index{10000}, std::uint64_t{264923200}),
                    std::make_tuple("fashion-mnist", Part::train, Index{60000}, std::uint64_t{3431114169}),
                    std::make_tuple("fashion-mnist", Part::test, Index{10000}, std::uint64_t{573469082}),
                    std::make_tuple("cifar10", Part::train, Index{50000}, std::uint64_t{18540682003}),
                    std::make_tuple("cifar10", Part::test, Index{10000}, std::uint64_t{3733375634}),
                    std::make_tuple("cifar100", Part::train, Index{50000}, std::uint64_t{18729378732}),
                    std::make_tuple("cifar100", Part::test, Index{10000}, std::uint64_t{3755249331})));

}  // namespace
}  // namespace lipschitzlr::data
