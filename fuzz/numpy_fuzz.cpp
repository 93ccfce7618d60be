// Any bytes as a .npy file or an .npz archive of NumPy; the first byte says which, and whether it may have gaps.

#include "table_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr::data;
  if (size == 0) return 0;
  ReadOptions options;
  options.has_target = (bytes[0] & 2) == 0;
  options.target_may_be_missing = (bytes[0] & 4) != 0;
  options.columns = 2;
  const char* const magic = (bytes[0] & 1) != 0 ? "PK\x03\x04" : "\x93NUMPY";
  const std::string content = magic + std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const Outcome outcome = try_to_read(content, options, 4096);
  if (outcome.error.empty()) check_table(outcome.table, options);
  return 0;
}
