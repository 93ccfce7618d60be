#include "nn/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::nn {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::size_t kMostDimensions = 64;  // what libtorch's loops can walk
constexpr int kDeepest = 4;                  // {"tensor": {"shape": [2, 3]}}
constexpr const char* kMetadata = "__metadata__";

struct ElementKind {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr ElementKind kElementKinds[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
                                         {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},   {"BOOL", 1}};

// A name as it can stand in a sentence: quoted, and with nothing a terminal would obey.
std::string in_quotes(const std::string& name) {
  return json(name).dump(-1, ' ', true, json::error_handler_t::replace);
}

// The number of elements; nothing when a shape like this can't be: its strides would not fit into 64 bits.
std::optional<std::uint64_t> element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t extent = 1, count = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(extent, std::max<std::int64_t>(size, 1), &extent)) return std::nullopt;
    count *= size;
  }
  return static_cast<std::uint64_t>(count);
}

[[noreturn]] void refuse_file(const std::string& file_name, const std::string& reason) {
  throw Error(Fault::data, fmt::format("{}: not a usable safetensors file: {}", file_name, reason));
}

class Parser {
 public:
  Parser(std::uint64_t data_size, const std::string& file_name) : data_size_(data_size), file_name_(file_name) {}

  SafetensorsHeader parse(std::string_view text) {
    if (!text.starts_with('{')) fail("its header is not a JSON object");
    // The parser takes a zero byte for the end and would not look at what follows.
    if (const std::size_t zero = text.find('\0'); zero != text.npos) {
      fail(fmt::format("its header is not JSON from byte {} on", zero + 1));
    }
    const json tree = parse_json(text);
    SafetensorsHeader header;
    // nlohmann's tree is sorted by name; the order of the file comes from the names noted while parsing.
    for (const std::string& name : names_) {
      if (name == kMetadata) {
        header.metadata = metadata(tree.at(name));
      } else {
        header.entries.push_back(entry(name, tree.at(name)));
      }
    }
    check_cover(header.entries);
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { refuse_file(file_name_, reason); }
  [[noreturn]] void fail(const std::string& name, const std::string& reason) const {
    fail(fmt::format("tensor {}: {}", in_quotes(name), reason));
  }

  json parse_json(std::string_view text) {
    std::vector<std::set<std::string>> open;  // the names seen in each object that is not closed yet
    const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
      if (depth > kDeepest) fail("its header is nested too deeply");
      if (event == json::parse_event_t::object_start) open.emplace_back();
      if (event == json::parse_event_t::object_end) open.pop_back();
      if (event != json::parse_event_t::key) return true;
      const auto& name = parsed.get_ref<const std::string&>();
      if (!open.back().insert(name).second) fail(fmt::format("the name {} occurs twice", in_quotes(name)));
      if (depth == 1) names_.push_back(name);
      return true;
    };
    try {
      return json::parse(text, watch);
    } catch (const json::parse_error& error) {
      fail(fmt::format("its header is not JSON from byte {} on", error.byte));
    } catch (const json::exception&) {
      fail("its header has a number that is too large");
    }
  }

  std::map<std::string, std::string> metadata(const json& tree) const {
    if (!tree.is_object()) fail("__metadata__ is not a JSON object");
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : tree.items()) {
      if (!value.is_string()) fail(fmt::format("{} in __metadata__ is not a text", in_quotes(name)));
      texts[name] = value.get<std::string>();
    }
    return texts;
  }

  std::vector<std::uint64_t> numbers(const std::string& name, const json& tree, const char* field) const {
    std::vector<std::uint64_t> values;
    const auto found = tree.find(field);
    if (found == tree.end() || !found->is_array()) fail(name, fmt::format("\"{}\" is not a list", field));
    for (const json& value : *found) {
      constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kLargest) {
        fail(name, fmt::format("\"{}\" has {}, not a whole number from 0", field,
                               value.is_number() ? value.dump() : value.type_name()));
      }
      values.push_back(value.get<std::uint64_t>());
    }
    return values;
  }

  SafetensorsEntry entry(const std::string& name, const json& tree) const {
    if (!tree.is_object()) fail(name, "its description is not a JSON object");
    for (const auto& [field, value] : tree.items()) {
      if (field != "dtype" && field != "shape" && field != "data_offsets") {
        fail(name, fmt::format("unknown field {}", in_quotes(field)));
      }
    }
    SafetensorsEntry entry{.name = name, .kind = {}, .shape = {}};
    const auto kind = tree.find("dtype");
    if (kind == tree.end() || !kind->is_string()) fail(name, "\"dtype\" is not a text");
    entry.kind = kind->get<std::string>();
    if (safetensors_number_size(entry.kind) == 0) {
      fail(name, fmt::format("numbers of the kind {} can't be read here", in_quotes(entry.kind)));
    }
    const std::vector<std::uint64_t> shape = numbers(name, tree, "shape");
    if (shape.size() > kMostDimensions) fail(name, fmt::format("it has {} dimensions", shape.size()));
    entry.shape.assign(shape.begin(), shape.end());
    const std::vector<std::uint64_t> offsets = numbers(name, tree, "data_offsets");
    if (offsets.size() != 2) fail(name, fmt::format("it has {} data_offsets, not 2", offsets.size()));
    entry.begin = offsets[0];
    entry.end = offsets[1];
    check_size(entry);
    return entry;
  }

  void check_size(const SafetensorsEntry& entry) const {
    if (entry.end < entry.begin) {
      fail(entry.name, fmt::format("it ends at byte {} before it begins at {}", entry.end, entry.begin));
    }
    if (entry.end > data_size_) {
      fail(entry.name,
           fmt::format("it ends at byte {} of the data, which has {} (is the file cut short?)", entry.end, data_size_));
    }
    std::uint64_t bytes = 0;
    const std::optional<std::uint64_t> count = element_count(entry.shape);
    if (!count || __builtin_mul_overflow(*count, safetensors_number_size(entry.kind), &bytes) ||
        bytes != entry.end - entry.begin) {
      fail(entry.name, fmt::format("{} numbers of shape [{}] do not take the {} bytes it has", entry.kind,
                                   fmt::join(entry.shape, ", "), entry.end - entry.begin));
    }
  }

  // Sorted by place, each tensor must begin where the one before ends, and the last end with the file.
  void check_cover(const std::vector<SafetensorsEntry>& entries) const {
    std::vector<const SafetensorsEntry*> sorted;
    for (const SafetensorsEntry& entry : entries) sorted.push_back(&entry);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto* left, const auto* right) {
      return std::pair(left->begin, left->end) < std::pair(right->begin, right->end);
    });
    std::uint64_t reached = 0;
    for (const SafetensorsEntry* entry : sorted) {
      if (entry->begin < reached) {
        fail(entry->name, fmt::format("it begins at byte {} of the data, inside of the tensor before", entry->begin));
      }
      if (entry->begin > reached) {
        fail(entry->name, fmt::format("the {} bytes before its begin belong to no tensor", entry->begin - reached));
      }
      reached = entry->end;
    }
    if (reached != data_size_) fail(fmt::format("{} bytes after the last tensor", data_size_ - reached));
  }

  std::uint64_t data_size_;
  const std::string& file_name_;
  std::vector<std::string> names_;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void place(std::vector<SafetensorsEntry>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) { return safetensors_number_size(entries[i].kind); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return size(i) > size(j); });
  std::uint64_t reached = 0;
  for (const std::size_t i : order) {
    entries[i].begin = reached;
    reached += element_count(entries[i].shape).value() * size(i);
    entries[i].end = reached;
  }
}

}  // namespace

std::uint64_t safetensors_number_size(std::string_view kind) {
  for (const ElementKind& known : kElementKinds) {
    if (known.name == kind) return known.bytes;
  }
  return 0;
}

std::string format_safetensors_header(std::vector<SafetensorsEntry>& entries,
                                      const std::map<std::string, std::string>& metadata) {
  place(entries);
  ordered_json tree = ordered_json::object();
  if (!metadata.empty()) tree[kMetadata] = metadata;
  std::set<std::string> seen{kMetadata};
  for (const SafetensorsEntry& entry : entries) {
    if (!seen.insert(entry.name).second) {
      throw Error(Fault::usage,
                  fmt::format("safetensors: {} is {}; give every tensor a name of its own", in_quotes(entry.name),
                              entry.name == kMetadata ? "a reserved name" : "the name of two tensors"));
    }
    tree[entry.name] =
        ordered_json{{"dtype", entry.kind}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text;
  try {
    text = tree.dump();
  } catch (const json::exception&) {
    throw Error(Fault::usage, "safetensors: a name or a text of the metadata is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string header;
  for (std::uint64_t i = 0; i < kLengthBytes; ++i) header += static_cast<char>(text.size() >> (8 * i) & 255);
  return header + text;
}

SafetensorsHeader parse_safetensors_header(std::string_view file, std::uint64_t file_size,
                                           const std::string& file_name) {
  if (file_size < kLengthBytes || file.size() < kLengthBytes) {
    refuse_file(file_name, fmt::format("it has {} bytes, fewer than the length of a header takes", file_size));
  }
  const std::uint64_t length = little_endian(file.substr(0, kLengthBytes));
  if (length > kLongestHeader) {
    refuse_file(file_name,
                fmt::format("its header would take {} bytes; at most {} are allowed", length, kLongestHeader));
  }
  if (length > file_size - kLengthBytes || length > file.size() - kLengthBytes) {
    refuse_file(file_name, fmt::format("its header takes {} bytes and the file ends after {} (is it cut short?)",
                                       length, file_size - kLengthBytes));
  }
  const std::uint64_t data_begin = kLengthBytes + length;
  SafetensorsHeader header = Parser(file_size - data_begin, file_name).parse(file.substr(kLengthBytes, length));
  header.data_begin = data_begin;
  return header;
}

}  // namespace lipschitzlr::nn
