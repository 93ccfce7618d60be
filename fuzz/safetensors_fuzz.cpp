// Any bytes as a safetensors file: refused with an Error, or a header whose tensors lie in the file and which survives
// being written and read again. The header's parser alone, which needs no libtorch.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "lipschitzlr/base/error.hpp"
#include "nn/safetensors_header.hpp"

namespace {

using namespace lipschitzlr;

void check(std::string_view file) {
  nn::SafetensorsHeader header;
  try {
    header = nn::parse_safetensors_header(file, file.size(), "fuzz");
  } catch (const Error&) {
    return;
  }
  std::uint64_t bytes = 0;
  for (const nn::SafetensorsEntry& entry : header.entries) {
    if (entry.begin > entry.end || header.data_begin + entry.end > file.size()) std::abort();
    bytes += entry.end - entry.begin;
  }
  if (header.data_begin + bytes != file.size()) std::abort();
  std::vector<nn::SafetensorsEntry> entries = header.entries;
  const std::string written = nn::format_safetensors_header(entries, header.metadata);
  const nn::SafetensorsHeader again = nn::parse_safetensors_header(written, written.size() + bytes, "again");
  if (again.metadata != header.metadata || again.entries.size() != header.entries.size()) std::abort();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (again.entries[i].name != header.entries[i].name || again.entries[i].kind != header.entries[i].kind ||
        again.entries[i].shape != header.entries[i].shape) {
      std::abort();
    }
  }
}

}  // namespace

// The length of the header stands before it and would keep most inputs from getting any further: a first byte that is
// even says that the rest is the header, and how many bytes of data come after it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  if (bytes[0] % 2 == 1) {
    check(rest);
    return 0;
  }
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(rest.size() >> (8 * i) & 255);
  check(file + rest + std::string(bytes[0] / 2, '\0'));
  return 0;
}
