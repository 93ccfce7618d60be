#include "lipschitzlr/data/image/png_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "data/image/png_writer.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

class PngFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  void put(const std::string& name, const std::string& content) {
    fs::create_directories((folder / name).parent_path());
    write_file_atomically(folder / name, content);
  }
  std::string complaint(Part part = Part::train) {
    try {
      read_png_folder(folder, part);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      return error.what();
    }
    return "no error";
  }
  void expect_complaint(const std::string& words, Part part = Part::train) {
    EXPECT_NE(complaint(part).find(words), std::string::npos) << complaint(part);
  }

  fs::path folder = fs::path(testing::TempDir()) / ("lipschitzlr_png_" + std::to_string(getpid()));
};

TEST_F(PngFolder, TheClassesAreTheFoldersByName) {
  put("dog/2.png", grey_png(1, 2, 20));
  put("dog/10.png", grey_png(1, 2, 10));
  put("cat/1.png", grey_png(1, 2, 5));
  put("cat/.hidden", "left behind by a file manager");
  const ImageSet set = read_png_folder(folder, Part::train);
  EXPECT_EQ(set.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(set.labels, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(set.pixels, (std::vector<std::uint8_t>{5, 5, 10, 10, 20, 20}));
  EXPECT_EQ((std::vector<Index>{set.height, set.width, set.channels}), (std::vector<Index>{1, 2, 1}));
  const ImageSet test = read_png_folder(folder, Part::test);
  EXPECT_EQ(test.count(), 0);
  EXPECT_EQ(test.classes, set.classes);
  EXPECT_EQ(test.pixels_per_image(), 2);
}

// Opening it would wait for whoever writes into it.
TEST_F(PngFolder, APipeIsNoPicture) {
  put("a/1.png", grey_png(1, 1, 1));
  ASSERT_EQ(mkfifo((folder / "a" / "2.png").c_str(), 0600), 0);
  alarm(120);
  expect_complaint("2.png: is not a file, expected PNG files only");
  alarm(0);
}

TEST_F(PngFolder, TrainAndTestAreTwoParts) {
  put("train/a/1.png", grey_png(1, 1, 1));
  put("train/b/1.png", grey_png(1, 1, 2));
  put("test/a/1.png", grey_png(1, 1, 3));
  put("test/b/1.png", grey_png(1, 1, 4));
  EXPECT_EQ(read_png_folder(folder, Part::train).pixels, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(read_png_folder(folder, Part::test).pixels, (std::vector<std::uint8_t>{3, 4}));
}

TEST_F(PngFolder, OnePictureWithColoursGivesAllOfThemThree) {
  put("train/a/1.png", grey_png(1, 1, 9));
  put("test/a/1.png", colour_png(1, 1, 1, 2, 3));
  EXPECT_EQ(read_png_folder(folder, Part::train).pixels, (std::vector<std::uint8_t>{9, 9, 9}));
  EXPECT_EQ(read_png_folder(folder, Part::test).pixels, (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST_F(PngFolder, PicturesOfTwoSizesAreRefused) {
  put("train/a/1.png", grey_png(2, 3, 1));
  put("train/a/2.png", grey_png(3, 2, 1));
  expect_complaint("train/a/2.png: has 3 x 2 pixels, but ");
  expect_complaint("train/a/1.png has 2 x 3; all must be of one size");
  put("train/a/2.png", grey_png(2, 3, 1));
  put("test/a/1.png", grey_png(2, 2, 1));
  expect_complaint("test/a/1.png: has 2 x 2 pixels");
  expect_complaint("test/a/1.png: has 2 x 2 pixels", Part::test);
}

TEST_F(PngFolder, WhatIsNoPictureIsNamed) {
  put("a/1.png", grey_png(1, 1, 1));
  put("a/notes.txt", "hello");
  expect_complaint("a/notes.txt: byte 0: is not a PNG picture");
  put("a/notes.txt", grey_png(1, 1, 1).substr(0, 50));
  expect_complaint("a/notes.txt: byte");
}

TEST_F(PngFolder, AnotherLayoutIsNamed) {
  expect_complaint("holds no images: expected one folder of PNG files per class");
  put("a/1.png", grey_png(1, 1, 1));
  put("1.png", grey_png(1, 1, 1));
  expect_complaint("1.png: is a file beside the folders of the classes");
  fs::remove(folder / "1.png");
  put("a/deeper/1.png", grey_png(1, 1, 1));
  expect_complaint("a/deeper: is a folder inside the folder of a class");
  fs::remove_all(folder / "a" / "deeper");
  fs::create_directories(folder / "empty");
  expect_complaint("empty: is the folder of a class, but holds no PNG files");
}

TEST_F(PngFolder, TrainAndTestMustHaveTheSameClasses) {
  put("test/a/1.png", grey_png(1, 1, 1));
  expect_complaint("has a folder test, but no folder train");
  put("train/a/1.png", grey_png(1, 1, 1));
  put("train/b/1.png", grey_png(1, 1, 1));
  expect_complaint("train has the class b, which test does not have");
  put("test/b/1.png", grey_png(1, 1, 1));
  put("test/c/1.png", grey_png(1, 1, 1));
  expect_complaint("test has the class c, which train does not have");
}

}  // namespace
}  // namespace lipschitzlr::data
