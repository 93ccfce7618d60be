// Any bytes as a CSV, with the options that change how it is read taken from the first byte.

#include "table_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr::data;
  if (size == 0) return 0;
  ReadOptions options;
  constexpr Format kFormats[] = {Format::csv, Format::detect, Format::tsv, Format::csv};
  options.format = kFormats[bytes[0] & 3];
  options.has_target = (bytes[0] & 4) == 0;
  if ((bytes[0] & 8) != 0) options.target = (bytes[0] & 16) != 0 ? "y" : "1";
  options.target_may_be_missing = (bytes[0] & 128) != 0;
  options.columns = 2;
  if ((bytes[0] & 32) != 0) options.header = (bytes[0] & 64) != 0;
  check_reading({reinterpret_cast<const char*>(bytes) + 1, size - 1}, options);
  return 0;
}
