#pragma once
// Weights in a safetensors file, which Python's safetensors opens too: 8 bytes with the length of the header (little
// endian), the header in JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}, then the
// numbers.

#include <map>
#include <string>

#include "lipschitzlr/nn/named_tensors.hpp"

namespace lipschitzlr::nn {

// Writes the file atomically. Every tensor is stored row by row in its logical order, whatever its memory format, and
// bit for bit: floating point of 64, 32 and 16 bits and bfloat16, integers of 8 to 64 bits, bytes and bool. Throws
// Error (usage) for a name twice, another kind of tensor or text that is not UTF-8, Error (data) when the file can't be
// written.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

struct SafetensorsFile {
  NamedTensors tensors;  // on the CPU, row by row, in the order of the header
  std::map<std::string, std::string> metadata;
};

// Throws Error (data) naming the file, the tensor and what is wrong with it; a file that loads has every byte accounted
// for.
SafetensorsFile load_safetensors(const std::string& path);
// The same from the content of a file that has already been read; the path is for messages.
SafetensorsFile parse_safetensors(const std::string& content, const std::string& path);

}  // namespace lipschitzlr::nn
