#pragma once
// A Keras HDF5 file: which layers have weights, of what shapes, and the numbers on demand. Two layouts: the attribute
// layer_names at the root (weights alone) or at the group model_weights (a whole model).

#include <cstdint>
#include <string>
#include <vector>

namespace lipschitzlr::nn {

struct KerasTensor {
  std::string name;  // "kernel", without the layer before it and the ":0" after it
  std::string path;  // in the file
  std::vector<std::int64_t> shape;
  bool floating = true;
};

struct KerasLayer {
  std::string name;
  std::vector<KerasTensor> tensors;
};

class KerasFile {
 public:
  // Throws Error (data) when the file is missing, not HDF5 or not of Keras.
  explicit KerasFile(const std::string& path);

  // In the file's order, those with weights only. A layer that is a model itself stands there as its layers.
  const std::vector<KerasLayer>& layers() const { return layers_; }

  // The numbers of each of these floating-point tensors, row by row.
  std::vector<std::vector<double>> read(const std::vector<KerasTensor>& tensors) const;

  const std::string& path() const { return path_; }

  class Reader;

 private:
  std::string path_;
  std::vector<KerasLayer> layers_;
};

}  // namespace lipschitzlr::nn
