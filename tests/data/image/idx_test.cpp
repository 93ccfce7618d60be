#include "lipschitzlr/data/image/idx.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

std::string idx(const std::vector<int>& sizes, const std::string& values, char type = 8) {
  std::string content{'\0', '\0', type, static_cast<char>(sizes.size())};
  for (int size : sizes) content += {'\0', '\0', static_cast<char>(size >> 8), static_cast<char>(size)};
  return content + values;
}

std::string idx_error(const std::string& content) {
  try {
    parse_idx(content, "images");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "no error";
}

TEST(Idx, SizesAndValues) {
  const std::string content = idx({2, 1, 3}, "abcdef");
  const IdxArray array = parse_idx(content, "images");
  EXPECT_EQ(array.sizes, (std::vector<Index>{2, 1, 3}));
  EXPECT_EQ(array.values, "abcdef");
  EXPECT_EQ(parse_idx(idx({300}, std::string(300, 'x')), "labels").sizes[0], 300);
}

TEST(Idx, WhatIsNotIdxIsToldApart) {
  EXPECT_EQ(idx_error(""), "images: not an IDX file (it must begin with two zero bytes)");
  EXPECT_EQ(idx_error("5.1,3.5,1.4"), "images: not an IDX file (it must begin with two zero bytes)");
  EXPECT_EQ(idx_error(idx({1}, "x", 13)), "images: holds IDX values of type 13, but only type 8 (bytes) is read");
  EXPECT_EQ(idx_error(idx({1, 1, 1, 1}, "x")), "images: has 4 dimensions, expected 1 to 3");
  EXPECT_EQ(idx_error(idx({1, 1}, "").substr(0, 9)), "images: ends at byte 9, inside its header of 12 bytes");
  EXPECT_EQ(idx_error(idx({2, 2}, "abc")),
            "images: holds 3 values from byte 12 on, but its header speaks of 4; the file is cut short");
  EXPECT_EQ(idx_error(idx({1}, "ab")),
            "images: holds 2 values from byte 8 on, but its header speaks of 1; the file is too long");
  const std::string huge = std::string("\0\0\x08\x03", 4) + std::string(12, '\xff');
  EXPECT_EQ(idx_error(huge),
            "images: holds 0 values from byte 16 on, but its header speaks of more; the file is cut short");
}

TEST(Idx, ATableOfPixelsAndLabels) {
  const fs::path folder = fs::path(testing::TempDir()) / "lipschitzlr_idx";
  fs::create_directories(folder);
  write_file_atomically(folder / "images", idx({2, 1, 2}, std::string("\x01\xff\x00\x07", 4)));
  write_file_atomically(folder / "labels", idx({2}, std::string("\x07\x03", 2)));
  const Table table = read_idx_table(folder / "images", folder / "labels");
  EXPECT_EQ(std::get<DenseMatrix<double>>(table.features), (DenseMatrix<double>{{1, 255}, {0, 7}}));
  EXPECT_EQ(table.labels, (std::vector<std::string>{"3", "7"}));
  EXPECT_EQ(table.target, (Vector<double>{{1, 0}}));
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"pixel_0_0", "pixel_0_1"}));
  write_file_atomically(folder / "labels", idx({3}, "abc"));
  EXPECT_THROW(read_idx_table(folder / "images", folder / "labels"), Error);
  EXPECT_THROW(read_idx_table(folder / "labels", folder / "labels"), Error);
  fs::remove_all(folder);
}

TEST(Idx, ImagesKeepTheirBytesAndLabelsTheirNames) {
  const std::string images = idx({3, 1, 2}, std::string("\x01\xff\x00\x07\x80\x7f", 6));
  const std::string labels = idx({3}, std::string("\x02\x00\x02", 3));
  const ImageSet plain = parse_idx_images({images, "images"}, {labels, "labels"});
  EXPECT_EQ(plain.count(), 3);
  EXPECT_EQ((std::vector<Index>{plain.height, plain.width, plain.channels}), (std::vector<Index>{1, 2, 1}));
  EXPECT_EQ(plain.pixels, (std::vector<std::uint8_t>{1, 255, 0, 7, 128, 127}));
  EXPECT_EQ(plain.labels, (std::vector<std::int32_t>{2, 0, 2}));
  EXPECT_EQ(plain.classes, (std::vector<std::string>{"0", "1", "2"}));
  const ImageSet named = parse_idx_images({images, "images"}, {labels, "labels"}, {"cat", "dog", "bird"});
  EXPECT_EQ(named.classes[2], "bird");
}

std::string pair_complaint(const std::string& images, const std::string& labels) {
  try {
    parse_idx_images({images, "images"}, {labels, "labels"}, {"no", "yes"});
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "no error";
}

TEST(Idx, FilesThatDoNotBelongTogetherAreToldApart) {
  const std::string images = idx({2, 1, 1}, "ab"), labels = idx({2}, std::string("\x00\x01", 2));
  EXPECT_EQ(pair_complaint(images, labels), "no error");
  EXPECT_EQ(pair_complaint(labels, images),
            "images: byte 3: has 1 dimensions, but images have 3; it holds labels: are the two files swapped?");
  EXPECT_EQ(pair_complaint(images, images),
            "labels: byte 3: has 3 dimensions, but labels have 1; it holds images: are the two files swapped?");
  EXPECT_EQ(pair_complaint(idx({2, 1}, "ab"), labels),
            "images: byte 3: has 2 dimensions, but images have 3; it is some other table");
  EXPECT_EQ(pair_complaint(images, idx({3}, std::string(3, '\0'))),
            "labels: has 3 labels, but images has 2 images; they do not belong together");
  EXPECT_EQ(pair_complaint(images, idx({2}, std::string("\x01\x02", 2))),
            "labels: record 1 (byte 9) has the label 2, expected 0 to 1");
  EXPECT_EQ(pair_complaint(idx({0, 1, 1}, ""), idx({0}, "")),
            "images: has 0 images of 1 x 1 pixels: there is nothing to learn from");
  EXPECT_EQ(pair_complaint(idx({2, 0, 1}, ""), labels),
            "images: has 2 images of 0 x 1 pixels: there is nothing to learn from");
}

}  // namespace
}  // namespace lipschitzlr::data
