#include "lipschitzlr/data/image/cifar_picture.hpp"

#include <gtest/gtest.h>

#include "data/image/png_writer.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/image/cifar.hpp"

namespace lipschitzlr::data {
namespace {

// Two images; every byte is a number of its own modulo 251, a prime.
std::vector<std::uint8_t> two_rows() {
  std::vector<std::uint8_t> rows(2 * 3072);
  for (std::size_t place = 0; place < rows.size(); ++place) rows[place] = static_cast<std::uint8_t>(place % 251);
  return rows;
}

std::string picture() {
  return encode_png({.width = 1024, .height = 2, .colour_type = PNG_COLOR_TYPE_RGB}, two_rows());
}

std::string picture_error(const std::string& content, const std::string& labels, std::size_t first) {
  try {
    cifar_records(content, labels, first, "batch.png");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "no error";
}

TEST(CifarPicture, BecomesTheRecordsOfThePublishedFile) {
  const std::string records = cifar_records(picture(), "[7,7,3,9]", 2, "batch.png");
  const ImageSet set = parse_cifar(records, "records", Cifar::ten);
  EXPECT_EQ(set.labels, (std::vector<std::int32_t>{3, 9}));
  EXPECT_EQ(set.pixels, two_rows());  // parse_cifar undoes the planes: what is left is the picture
  EXPECT_EQ(records[1], '\x00');
  EXPECT_EQ(records[2], '\x03');  // the red of the second pixel
}

TEST(CifarPicture, WhatDoesNotFitIsRefused) {
  EXPECT_NE(picture_error(picture(), "[1]", 0).find("does not reach so far"), std::string::npos);
  EXPECT_NE(picture_error(picture(), "[1,2,3]", 2).find("does not reach so far"), std::string::npos);
  EXPECT_EQ(picture_error(picture(), "[1,", 0), "batch.png: the list of labels: is not valid JSON (byte 4)");
  EXPECT_EQ(picture_error(picture(), "[1,10]", 0), "batch.png: label 1 of its list is 10, expected 0 to 9");
  EXPECT_EQ(picture_error(picture(), "[-1,1]", 0), "batch.png: label 0 of its list is -1, expected 0 to 9");
  EXPECT_EQ(picture_error(picture(), "[\"a\",1]", 0), "batch.png: label 0 of its list is \"a\", expected 0 to 9");
  EXPECT_NE(picture_error(colour_png(2, 32, 1, 2, 3), "[1,2]", 0).find("32 pixels wide, expected 1024"),
            std::string::npos);
  EXPECT_NE(picture_error(grey_png(2, 1024, 1), "[1,2]", 0).find("with colours"), std::string::npos);
  EXPECT_NE(picture_error("text", "[1,2]", 0).find("is not a PNG picture"), std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::data
