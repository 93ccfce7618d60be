#include "nn/keras_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include "base/isolated.hpp"
#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::nn {
namespace {

// HDF5 prints its errors on stderr unless told otherwise; ours are exceptions. Its own setting comes back afterwards.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// One thing of HDF5 that is open; negative numbers are its way to say that it could not be opened.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  bool open() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

constexpr double kMostPacked = 1032;  // bytes that deflate, the packing of HDF5, can make one of

std::size_t count_of(const KerasTensor& tensor) {
  return std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::size_t{1}, std::multiplies<std::size_t>());
}

// "batch_normalization_1/gamma:0" -> {"batch_normalization_1", "gamma"}
std::pair<std::string, std::string> split_weight_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string owner = slash == std::string::npos ? "" : name.substr(0, slash);
  std::string leaf = slash == std::string::npos ? name : name.substr(slash + 1);
  return {owner, leaf.substr(0, leaf.find(':'))};
}

// A link to another file could bring any file of the user into the weights.
herr_t refuse_external_link(const char* /*file*/, const char* /*group*/, const char* /*other_file*/,
                            const char* /*object*/, unsigned* /*flags*/, hid_t /*access*/, void* /*data*/) {
  return -1;
}

hid_t links_within_the_file(hid_t kind) {
  const hid_t access = H5Pcreate(kind);
  if (access < 0 || H5Pset_elink_cb(access, refuse_external_link, nullptr) < 0) {
    throw Error(Fault::data, "HDF5 can't be told to stay within a file");
  }
  return access;
}

// Numbers outside the file, or mapped from others, could be any file of the user.
bool is_stored_within(hid_t set) {
  const Handle plan(H5Dget_create_plist(set), H5Pclose);
  return plan.open() && H5Pget_layout(plan) != H5D_VIRTUAL && H5Pget_external_count(plan) == 0;
}

}  // namespace

class KerasFile::Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path), file_(H5Fopen(checked(path), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
    if (!file_.open()) fail("HDF5 can't open it (is it damaged or cut short?)");
  }

  std::vector<KerasLayer> layers() const {
    const std::string top = has_list(file_, "layer_names") ? "" : "/model_weights";
    const Handle group = open_group(top + "/");
    if (!group.open() || !has_list(group, "layer_names")) {
      fail(
          "there is no list layer_names as Keras 2 writes it; in Keras, save with model.save(\"name.h5\") or "
          "model.save_weights(\"name.h5\")");
    }
    std::vector<KerasLayer> layers;
    for (const std::string& name : list(group, "layer_names")) append_layer(top + "/" + name, name, layers);
    return layers;
  }

  std::vector<double> read(const KerasTensor& tensor) const {
    const double count = std::accumulate(tensor.shape.begin(), tensor.shape.end(), 1.0, std::multiplies<double>());
    if (!(count >= 0 && count <= kMostPacked * static_cast<double>(std::filesystem::file_size(path_)))) {
      fail(fmt::format("{} has more numbers than the file can hold", tensor.path));
    }
    std::vector<double> numbers(count_of(tensor));
    const Handle set = open_set(tensor.path);
    if (!set.open() || H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0) {
      fail(fmt::format("the numbers of {} can't be read", tensor.path));
    }
    return numbers;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(Fault::data, fmt::format("{}: not a usable Keras file: {}", path_, reason));
  }

 private:
  static const char* checked(const std::string& path) {
    if (H5Fis_hdf5(path.c_str()) > 0) return path.c_str();
    throw Error(Fault::data, fmt::format("{}: not an HDF5 file, which is what Keras writes for .h5", path));
  }
  Handle open_group(const std::string& path) const { return {H5Gopen2(file_, path.c_str(), group_access_), H5Gclose}; }
  Handle open_set(const std::string& path) const { return {H5Dopen2(file_, path.c_str(), set_access_), H5Dclose}; }

  static bool has(hid_t object, const std::string& attribute) { return H5Aexists(object, attribute.c_str()) > 0; }
  static bool has_list(hid_t object, const std::string& name) { return has(object, name) || has(object, name + "0"); }

  // Keras cuts a list that is too long for one attribute into name0, name1, ...
  std::vector<std::string> list(hid_t object, const std::string& name) const {
    std::vector<std::string> all;
    if (has(object, name)) append_texts(object, name, all);
    for (int i = 0; all.empty() || i > 0; ++i) {
      const std::string part = name + std::to_string(i);
      if (!has(object, part)) break;
      append_texts(object, part, all);
    }
    return all;
  }

  void append_texts(hid_t object, const std::string& name, std::vector<std::string>& all) const {
    const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
    const Handle space(H5Aget_space(attribute), H5Sclose);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count == 0) return;  // of any type: Python writes an empty list as one of numbers
    if (!attribute.open() || count < 0 || H5Tget_class(type) != H5T_STRING) {
      fail(fmt::format("the attribute {} is not a list of texts", name));
    }
    // Memory for the list is taken before HDF5 finds that the file ends.
    if (H5Aget_storage_size(attribute) > std::filesystem::file_size(path_)) {
      fail(fmt::format("the attribute {} is larger than the file", name));
    }
    const bool read = H5Tis_variable_str(type) > 0
                          ? append_variable(attribute, space, type, static_cast<std::size_t>(count), all)
                          : append_fixed(attribute, type, static_cast<std::size_t>(count), all);
    if (!read) fail(fmt::format("the attribute {} can't be read", name));
  }

  static bool append_variable(hid_t attribute, hid_t space, hid_t type, std::size_t count,
                              std::vector<std::string>& all) {
    std::vector<char*> texts(count, nullptr);
    if (H5Aread(attribute, type, texts.data()) < 0) return false;
    for (const char* text : texts) all.emplace_back(text == nullptr ? "" : text);
    return H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data()) >= 0;
  }

  static bool append_fixed(hid_t attribute, hid_t type, std::size_t count, std::vector<std::string>& all) {
    const std::size_t width = H5Tget_size(type);
    if (width == 0 || H5Aget_storage_size(attribute) != count * width) return false;
    std::string texts(count * width, '\0');
    if (H5Aread(attribute, type, texts.data()) < 0) return false;
    const char filler = H5Tget_strpad(type) == H5T_STR_SPACEPAD ? ' ' : '\0';
    for (std::size_t i = 0; i < count; ++i) {
      std::string text = texts.substr(i * width, width);
      text.resize(filler == ' ' ? text.find_last_not_of(' ') + 1 : std::min(text.find('\0'), width));
      all.push_back(std::move(text));
    }
    return true;
  }

  void append_layer(const std::string& path, const std::string& name, std::vector<KerasLayer>& layers) const {
    const Handle group = open_group(path);
    if (!group.open()) fail(fmt::format("the layer {} is listed but not there, or in another file", name));
    const std::vector<std::string> weights = list(group, "weight_names");
    std::vector<std::pair<std::string, KerasLayer>> owners;  // in the order in which they first come
    for (const std::string& weight : weights) {
      const auto [owner, leaf] = split_weight_name(weight);
      auto found = std::find_if(owners.begin(), owners.end(),
                                [&called = owner](const auto& pair) { return pair.first == called; });
      if (found == owners.end()) {
        owners.push_back({owner, {.name = split_weight_name(owner).second, .tensors = {}}});
        found = owners.end() - 1;
      }
      found->second.tensors.push_back(describe(path + "/" + weight, leaf));
    }
    // One owner: an ordinary layer, which Keras may know under another name than its weights.
    if (owners.size() == 1) owners.front().second.name = name;
    for (auto& [owner, layer] : owners) layers.push_back(std::move(layer));
  }

  KerasTensor describe(const std::string& path, const std::string& leaf) const {
    const Handle set = open_set(path);
    if (!set.open()) fail(fmt::format("the tensor {} is listed but not there, or in another file", path));
    if (!is_stored_within(set))
      fail(fmt::format("the numbers of {} are in another file; store them in this one", path));
    const Handle space(H5Dget_space(set), H5Sclose);
    const Handle type(H5Dget_type(set), H5Tclose);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    if (dimensions < 0) fail(fmt::format("the tensor {} has no shape", path));
    std::vector<hsize_t> extents(static_cast<std::size_t>(dimensions));
    H5Sget_simple_extent_dims(space, extents.data(), nullptr);
    return {.name = leaf,
            .path = path,
            .shape = {extents.begin(), extents.end()},
            .floating = H5Tget_class(type) == H5T_FLOAT};
  }

  const std::string& path_;
  Handle file_;
  Handle group_access_{links_within_the_file(H5P_GROUP_ACCESS), H5Pclose};
  Handle set_access_{links_within_the_file(H5P_DATASET_ACCESS), H5Pclose};
};

namespace {

// HDF5 itself can be brought down by a damaged file: it reads in a copy of this process.
std::string from_reader(const std::string& path, const std::function<std::string(const KerasFile::Reader&)>& work) {
  const auto read = [&] {
    const Quiet quiet;
    return work(KerasFile::Reader(path));
  };
  return isolated(read, fmt::format("{}: not a usable Keras file: HDF5 fails on it (is it damaged?)", path));
}

std::string to_json(const std::vector<KerasLayer>& layers) {
  nlohmann::json list = nlohmann::json::array();
  for (const KerasLayer& layer : layers) {
    nlohmann::json tensors = nlohmann::json::array();
    for (const KerasTensor& tensor : layer.tensors) {
      tensors.push_back(nlohmann::json::array({tensor.name, tensor.path, tensor.shape, tensor.floating}));
    }
    list.push_back(nlohmann::json::array({layer.name, std::move(tensors)}));
  }
  // A name that is not UTF-8 is changed here and then not found in the file.
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<KerasLayer> layers_from(const std::string& json) {
  std::vector<KerasLayer> layers;
  for (const nlohmann::json& layer : parse_json(json, "")) {
    layers.push_back({.name = layer.at(0), .tensors = {}});
    for (const nlohmann::json& tensor : layer.at(1)) {
      layers.back().tensors.push_back(
          {.name = tensor.at(0), .path = tensor.at(1), .shape = tensor.at(2), .floating = tensor.at(3)});
    }
  }
  return layers;
}

}  // namespace

KerasFile::KerasFile(const std::string& path) : path_(path) {
  // The system's reason (missing, not allowed, a folder) says more than HDF5's.
  errno = 0;
  std::ifstream probe(path, std::ios::binary);
  if (probe.peek() == std::ifstream::traits_type::eof()) {
    throw Error(Fault::data,
                fmt::format("{}: can't read: {}", path, errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  layers_ = layers_from(from_reader(path, [](const Reader& reader) { return to_json(reader.layers()); }));
}

std::vector<std::vector<double>> KerasFile::read(const std::vector<KerasTensor>& tensors) const {
  const std::string bytes = from_reader(path_, [&](const Reader& reader) {
    std::string all;
    for (const KerasTensor& tensor : tensors) {
      const std::vector<double> numbers = reader.read(tensor);
      all.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    }
    return all;
  });
  std::vector<std::vector<double>> read;
  std::size_t at = 0;
  for (const KerasTensor& tensor : tensors) {
    std::vector<double>& numbers = read.emplace_back(count_of(tensor));
    if ((bytes.size() - at) / sizeof(double) < numbers.size()) throw Error(Fault::data, path_ + ": is damaged");
    std::memcpy(numbers.data(), bytes.data() + at, numbers.size() * sizeof(double));
    at += numbers.size() * sizeof(double);
  }
  return read;
}

}  // namespace lipschitzlr::nn
