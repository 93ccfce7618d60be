#pragma once
// PNG files for the tests, made by libpng's writer.

#include <png.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lipschitzlr::data {

struct PngRecipe {
  int width = 1, height = 1;
  int colour_type = PNG_COLOR_TYPE_GRAY;
  int bits = 8;
  bool interlaced = false;
  std::vector<png_color> palette = {};
  double gamma = 0;  // 0: none is written
};

// rows: the bytes of all rows as they stand in the file before packing.
inline std::string encode_png(const PngRecipe& recipe, const std::vector<std::uint8_t>& rows) {
  std::string content;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) throw std::runtime_error("the test can't write its PNG file");
  png_set_write_fn(
      png, &content,
      [](png_structp writer, png_bytep bytes, std::size_t size) {
        static_cast<std::string*>(png_get_io_ptr(writer))->append(reinterpret_cast<const char*>(bytes), size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(recipe.width), static_cast<png_uint_32>(recipe.height), recipe.bits,
               recipe.colour_type, recipe.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!recipe.palette.empty()) png_set_PLTE(png, info, recipe.palette.data(), static_cast<int>(recipe.palette.size()));
  if (recipe.gamma != 0) png_set_gAMA(png, info, recipe.gamma);
  const std::size_t row_size = rows.size() / static_cast<std::size_t>(recipe.height);
  std::vector<png_bytep> pointers;
  for (std::size_t start = 0; start < rows.size(); start += row_size) {
    pointers.push_back(const_cast<png_bytep>(rows.data() + start));
  }
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return content;
}

inline std::string grey_png(int height, int width, std::uint8_t value) {
  return encode_png({.width = width, .height = height},
                    std::vector<std::uint8_t>(static_cast<std::size_t>(height * width), value));
}

inline std::string colour_png(int height, int width, std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  std::vector<std::uint8_t> rows;
  for (int pixel = 0; pixel < height * width; ++pixel) rows.insert(rows.end(), {red, green, blue});
  return encode_png({.width = width, .height = height, .colour_type = PNG_COLOR_TYPE_RGB}, rows);
}

}  // namespace lipschitzlr::data
