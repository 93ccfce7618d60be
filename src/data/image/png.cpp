#include "lipschitzlr/data/image/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

// DEFLATE packs at best some 1,032 bytes into one: a picture said to be larger than that is a damaged header, and no
// reason to ask for its memory.
constexpr std::size_t kBestPacking = 1032;

// What is read from memory, and where the reader stands.
struct Reader {
  std::string_view content;
  std::size_t place = 0;
  char complaint[200] = {};
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~Reader() { png_destroy_read_struct(png == nullptr ? nullptr : &png, info == nullptr ? nullptr : &info, nullptr); }
};

void on_read(png_structp png, png_bytep target, std::size_t size) {
  Reader& reader = *static_cast<Reader*>(png_get_io_ptr(png));
  if (size > reader.content.size() - reader.place) png_error(png, "the file ends too early");
  std::memcpy(target, reader.content.data() + reader.place, size);
  reader.place += size;
}

// libpng is C: it is left by a jump, not by an exception.
[[noreturn]] void on_error(png_structp png, png_const_charp complaint) {
  Reader& reader = *static_cast<Reader*>(png_get_error_ptr(png));
  std::strncpy(reader.complaint, complaint, sizeof reader.complaint - 1);
  longjmp(png_jmpbuf(png), 1);
}

void on_warning(png_structp, png_const_charp) {}

// False when libpng gave up. Nothing in here has a destructor: a jump would pass it by.
bool read_header(Reader& reader, bool to_colours) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_read_fn(reader.png, &reader, on_read);
  png_read_info(reader.png, reader.info);
  png_set_strip_16(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_palette_to_rgb(reader.png);
  png_set_expand_gray_1_2_4_to_8(reader.png);
  if (to_colours) png_set_gray_to_rgb(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_rows(Reader& reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

[[noreturn]] void fail_at(const std::string& name, const Reader& reader) {
  throw Error(Fault::data, fmt::format("{}: byte {}: the PNG picture is damaged: {}", name, reader.place,
                                       static_cast<const char*>(reader.complaint)));
}

Index big_endian(std::string_view content, std::size_t place) {
  Index number = 0;
  for (std::size_t i = place; i < place + 4; ++i) number = number << 8 | static_cast<unsigned char>(content[i]);
  return number;
}

}  // namespace

PngShape png_shape(std::string_view content, const std::string& name) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  if (!content.starts_with(kSignature)) {
    throw Error(Fault::data, fmt::format("{}: byte 0: is not a PNG picture", name));
  }
  if (content.size() < kPngHeader) {
    throw Error(Fault::data, fmt::format("{}: byte {}: the PNG picture ends inside its header", name, content.size()));
  }
  constexpr std::size_t kWidth = 16, kHeight = 20, kColourType = 25;
  const PngShape shape{.height = big_endian(content, kHeight),
                       .width = big_endian(content, kWidth),
                       .coloured = (static_cast<unsigned char>(content[kColourType]) & PNG_COLOR_MASK_COLOR) != 0};
  constexpr Index kLongest = PNG_UINT_31_MAX;
  if (shape.height < 1 || shape.width < 1 || shape.height > kLongest || shape.width > kLongest) {
    throw Error(Fault::data, fmt::format("{}: byte {}: the PNG picture is damaged: {} x {} pixels", name, kWidth,
                                         shape.height, shape.width));
  }
  return shape;
}

std::vector<std::uint8_t> decode_png(std::string_view content, const std::string& name, Index channels) {
  const PngShape shape = png_shape(content, name);
  if (channels < shape.channels()) throw Error(Fault::data, fmt::format("{}: has colours, expected grey", name));
  // A pixel of one bit is the smallest there is.
  if (shape.height * ((shape.width + 7) / 8) > static_cast<Index>(content.size() * kBestPacking)) {
    throw Error(Fault::data, fmt::format("{}: byte 16: says that it has {} x {} pixels, more than {} bytes can hold",
                                         name, shape.height, shape.width, content.size()));
  }
  Reader reader{.content = content};
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning);
  if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) throw Error(Fault::data, fmt::format("{}: libpng does not start", name));
  if (!read_header(reader, channels == 3)) fail_at(name, reader);
  const std::size_t row_size = static_cast<std::size_t>(shape.width * channels);
  if (png_get_rowbytes(reader.png, reader.info) != row_size) {
    throw Error(Fault::data, fmt::format("{}: can't be read as a picture of {} channels", name, channels));
  }
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.height) * row_size);
  std::vector<png_bytep> rows;
  for (std::size_t start = 0; start < pixels.size(); start += row_size) rows.push_back(pixels.data() + start);
  if (!read_rows(reader, rows.data())) fail_at(name, reader);
  return pixels;
}

}  // namespace lipschitzlr::data
