#include "lipschitzlr/data/image/png.hpp"

#include <gtest/gtest.h>

#include "data/image/png_writer.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string png_error(const std::string& content, Index channels = 1) {
  try {
    decode_png(content, "a.png", channels);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "no error";
}

TEST(Png, GreyOfEveryDepthIsOneByteAPixel) {
  EXPECT_EQ(decode_png(encode_png({.width = 2, .height = 2}, {0, 7, 128, 255}), "a", 1), (Bytes{0, 7, 128, 255}));
  // One bit a pixel, the first is the highest: 1 0 1; two bits: 3 0 1; 16 bits: the high byte counts.
  EXPECT_EQ(decode_png(encode_png({.width = 3, .bits = 1}, {0xA0}), "a", 1), (Bytes{255, 0, 255}));
  EXPECT_EQ(decode_png(encode_png({.width = 3, .bits = 2}, {0xC4}), "a", 1), (Bytes{255, 0, 85}));
  EXPECT_EQ(decode_png(encode_png({.width = 2, .bits = 16}, {0x12, 0xFF, 0xFE, 0x00}), "a", 1), (Bytes{0x12, 0xFE}));
}

TEST(Png, ColoursStandSideBySideAndTransparencyIsDropped) {
  EXPECT_EQ(decode_png(encode_png({.width = 2, .colour_type = PNG_COLOR_TYPE_RGB}, {1, 2, 3, 4, 5, 6}), "a", 3),
            (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(
      decode_png(encode_png({.width = 2, .colour_type = PNG_COLOR_TYPE_RGBA}, {1, 2, 3, 0, 4, 5, 6, 128}), "a", 3),
      (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(decode_png(encode_png({.width = 2, .colour_type = PNG_COLOR_TYPE_GRAY_ALPHA}, {9, 0, 8, 255}), "a", 1),
            (Bytes{9, 8}));
  EXPECT_EQ(decode_png(encode_png({.width = 2}, {9, 8}), "a", 3), (Bytes{9, 9, 9, 8, 8, 8}));
}

TEST(Png, APaletteBecomesItsColours) {
  const PngRecipe recipe{.width = 3, .colour_type = PNG_COLOR_TYPE_PALETTE, .palette = {{10, 20, 30}, {1, 2, 3}}};
  EXPECT_EQ(decode_png(encode_png(recipe, {1, 0, 1}), "a", 3), (Bytes{1, 2, 3, 10, 20, 30, 1, 2, 3}));
  EXPECT_TRUE(png_shape(encode_png(recipe, {1, 0, 1}), "a").coloured);
}

TEST(Png, InterlacingAndGammaChangeNoValue) {
  Bytes values;
  for (int i = 0; i < 9 * 10; ++i) values.push_back(static_cast<std::uint8_t>(i * 2));
  EXPECT_EQ(decode_png(encode_png({.width = 10, .height = 9, .interlaced = true}, values), "a", 1), values);
  EXPECT_EQ(decode_png(encode_png({.width = 10, .height = 9, .gamma = 0.3}, values), "a", 1), values);
}

TEST(Png, TheShapeIsInTheFirstBytes) {
  const std::string content = colour_png(5, 7, 1, 2, 3);
  const PngShape shape = png_shape(content.substr(0, kPngHeader), "a");
  EXPECT_EQ(shape.height, 5);
  EXPECT_EQ(shape.width, 7);
  EXPECT_EQ(shape.channels(), 3);
  EXPECT_EQ(png_shape(grey_png(1, 1, 0), "a").channels(), 1);
}

TEST(Png, WhatIsNoPngIsRefused) {
  EXPECT_EQ(png_error(""), "a.png: byte 0: is not a PNG picture");
  EXPECT_EQ(png_error("\xff\xd8\xff\xe0 a JPEG picture, say"), "a.png: byte 0: is not a PNG picture");
  EXPECT_EQ(png_error(grey_png(1, 1, 0).substr(0, 20)), "a.png: byte 20: the PNG picture ends inside its header");
  EXPECT_EQ(png_error(colour_png(1, 1, 1, 2, 3)), "a.png: has colours, expected grey");
}

TEST(Png, EveryCutIsFound) {
  Bytes values;
  for (int i = 0; i < 400; ++i) values.push_back(static_cast<std::uint8_t>(i * i));
  const std::string whole = encode_png({.width = 20, .height = 20}, values);
  ASSERT_EQ(png_error(whole), "no error");
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(png_error(whole.substr(0, size)), "no error");
  EXPECT_NE(png_error(whole.substr(0, 100)).find("a.png: byte"), std::string::npos);
  EXPECT_NE(png_error(whole.substr(0, 100)).find("the file ends too early"), std::string::npos);
}

TEST(Png, AChangedByteOfThePictureIsFound) {
  const std::string whole = grey_png(20, 20, 7);
  for (std::size_t place = 8; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x40);
    EXPECT_NE(png_error(damaged), "no error") << place;
  }
}

TEST(Png, ASizeThatCanNotBeIsRefusedBeforeMemoryIsTaken) {
  std::string content = grey_png(1, 1, 0);
  content[16] = content[20] = '\x7f';  // two thousand million pixels each way
  EXPECT_NE(png_error(content).find("more than"), std::string::npos) << png_error(content);
  content[16] = '\xff';
  EXPECT_NE(png_error(content).find("byte 16: the PNG picture is damaged"), std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::data
