#include "lipschitzlr/nn/safetensors.hpp"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "nn/safetensors_header.hpp"

namespace lipschitzlr::nn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little endian, and copied as they are");

struct Kind {
  at::ScalarType type;
  const char* name;
};
constexpr Kind kKinds[] = {{at::kDouble, "F64"}, {at::kFloat, "F32"}, {at::kHalf, "F16"},  {at::kBFloat16, "BF16"},
                           {at::kLong, "I64"},   {at::kInt, "I32"},   {at::kShort, "I16"}, {at::kChar, "I8"},
                           {at::kByte, "U8"},    {at::kBool, "BOOL"}};

const char* kind_name(const std::string& name, const at::Tensor& tensor) {
  if (!tensor.defined()) throw Error(Fault::usage, fmt::format("safetensors: the tensor {} is undefined", name));
  if (tensor.layout() == at::kStrided) {
    for (const Kind& kind : kKinds) {
      if (kind.type == tensor.scalar_type()) return kind.name;
    }
  }
  throw Error(Fault::usage, fmt::format("safetensors: the tensor {} holds {} numbers in a {} layout, which the format "
                                        "does not know",
                                        name, c10::toString(tensor.scalar_type()),
                                        tensor.layout() == at::kStrided ? "plain" : "sparse or foreign"));
}

at::ScalarType scalar_type(const std::string& kind_name) {
  return std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return kind.name == kind_name; })
      ->type;
}

at::Tensor to_tensor(const SafetensorsEntry& entry, std::string_view bytes, const std::string& path) {
  // Any other byte in a bool is undefined behaviour in C++.
  if (entry.kind == "BOOL" &&
      std::any_of(bytes.begin(), bytes.end(), [](char byte) { return byte != 0 && byte != 1; })) {
    throw Error(Fault::data,
                fmt::format("{}: not a usable safetensors file: tensor \"{}\": a byte of a BOOL is neither "
                            "0 nor 1",
                            path, entry.name));
  }
  const at::Tensor tensor = at::empty(entry.shape, at::TensorOptions(scalar_type(entry.kind)));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, tensor] : tensors) {
    entries.push_back({.name = name, .kind = kind_name(name, tensor), .shape = tensor.sizes().vec()});
  }
  std::string content = format_safetensors_header(entries, metadata);
  const std::size_t data_begin = content.size();
  std::uint64_t data_size = 0;
  for (const SafetensorsEntry& entry : entries) data_size = std::max(data_size, entry.end);
  content.resize(data_begin + data_size);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].begin == entries[i].end) continue;
    const at::Tensor rows = tensors[i].second.detach().cpu().contiguous();
    std::memcpy(content.data() + data_begin + entries[i].begin, rows.data_ptr(), entries[i].end - entries[i].begin);
  }
  write_file_atomically(path, content);
}

SafetensorsFile load_safetensors(const std::string& path) { return parse_safetensors(read_file(path), path); }

SafetensorsFile parse_safetensors(const std::string& content, const std::string& path) {
  SafetensorsHeader header = parse_safetensors_header(content, content.size(), path);
  SafetensorsFile file{.tensors = {}, .metadata = std::move(header.metadata)};
  for (const SafetensorsEntry& entry : header.entries) {
    const std::string_view bytes =
        std::string_view(content).substr(header.data_begin + entry.begin, entry.end - entry.begin);
    file.tensors.emplace_back(entry.name, to_tensor(entry, bytes, path));
  }
  return file;
}

}  // namespace lipschitzlr::nn
