#pragma once
// The header of a safetensors file, apart from the tensors: it knows names, kinds of numbers, shapes and where in the
// file the bytes lie, and nothing of libtorch.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lipschitzlr::nn {

struct SafetensorsEntry {
  std::string name;
  std::string kind;  // "F32", "I64", ...
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // counted from the first byte after the header
};

struct SafetensorsHeader {
  std::uint64_t data_begin = 0;           // in the file
  std::vector<SafetensorsEntry> entries;  // in the order of the header
  std::map<std::string, std::string> metadata;
};

// Bytes of one number of a kind; 0 for a kind that is not known here.
std::uint64_t safetensors_number_size(std::string_view kind);

// The entries' begin and end are set here, largest numbers first, so that each lies at a multiple of its size as
// Python's reader needs it. Returns the bytes before the data: length, JSON and spaces up to a multiple of 8. Throws
// Error (usage) when a name occurs twice, is reserved or is not UTF-8.
std::string format_safetensors_header(std::vector<SafetensorsEntry>& entries,
                                      const std::map<std::string, std::string>& metadata);

// file starts with the file's first bytes, at least to the end of the header; file_size is the size of the whole.
// Throws Error (data) naming the file, the tensor and what is wrong, unless the tensors cover the data exactly.
SafetensorsHeader parse_safetensors_header(std::string_view file, std::uint64_t file_size,
                                           const std::string& file_name);

}  // namespace lipschitzlr::nn
