// A packed table: any bytes behind its magic, or, so that checksums do not end everything at once, any header and any
// bytes of numbers with the checksums that belong to them. The first byte says which.

#include <nlohmann/json.hpp>

#include "data/table/packed_format.hpp"
#include "table_fuzz.hpp"

namespace lipschitzlr::data {
namespace {

// The header ends at the first zero byte; the numbers follow.
std::string forged(std::string_view bytes) {
  const std::string header(bytes.substr(0, bytes.find('\0')));
  std::string_view numbers = bytes.substr(std::min(bytes.size(), header.size() + 1));
  const auto parsed = nlohmann::json::parse(header, nullptr, false);
  const auto number = [&](const char* key) -> std::uint64_t {
    const bool known = parsed.is_object() && parsed.contains(key) && parsed[key].is_number_unsigned();
    return known ? std::min<std::uint64_t>(parsed[key].get<std::uint64_t>(), 1 << 20) : 0;
  };
  std::string file = packed_start() + std::string(numbers), sums;
  for (std::uint64_t row = 0; row < number("rows") && number("block_rows") > 0; row += number("block_rows")) {
    const std::size_t size = 8 * number("columns") * std::min(number("block_rows"), number("rows") - row);
    append_number(sums, checksum_of(numbers.substr(0, size)));
    numbers.remove_prefix(std::min(numbers.size(), size));
  }
  append_number(sums, checksum_of(numbers));
  return file + packed_end(sums, header);
}

}  // namespace
}  // namespace lipschitzlr::data

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr::data;
  if (size == 0) return 0;
  ReadOptions options;
  options.has_target = (bytes[0] & 2) == 0;
  options.target_may_be_missing = (bytes[0] & 4) != 0;
  const std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const std::string content = (bytes[0] & 1) != 0 ? forged(rest) : std::string(kPackedMagic) + std::string(rest);
  try {
    check_table(parse_table(content, "fuzz", options), options);
  } catch (const lipschitzlr::Error&) {
  }
  return 0;
}
