// Any bytes as a LIBSVM file, with the options that change how it is read taken from the first byte.

#include "table_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr::data;
  if (size == 0) return 0;
  ReadOptions options;
  options.format = (bytes[0] & 1) != 0 ? Format::detect : Format::libsvm;
  options.has_target = (bytes[0] & 2) == 0;
  if ((bytes[0] & 4) != 0) options.columns = 7;
  options.target_may_be_missing = (bytes[0] & 8) != 0;
  check_reading({reinterpret_cast<const char*>(bytes) + 1, size - 1}, options);
  return 0;
}
