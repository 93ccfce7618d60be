// Any bytes as a Keras HDF5 file: refused with an Error, or layers whose tensors can be read, or not, with an Error.
// As in keras.cpp, only tensors of shapes that a network has are read.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "lipschitzlr/base/error.hpp"
#include "nn/keras_file.hpp"
#include "scratch.hpp"

namespace {

bool is_small(const lipschitzlr::nn::KerasTensor& tensor) {
  return tensor.shape.size() <= 4 && std::all_of(tensor.shape.begin(), tensor.shape.end(),
                                                 [](std::int64_t size) { return size >= 0 && size < 16; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  static const Scratch scratch;
  const std::string path = scratch.write("weights.h5", {reinterpret_cast<const char*>(bytes), size});
  try {
    const nn::KerasFile file(path);
    for (const nn::KerasLayer& layer : file.layers()) {
      for (const nn::KerasTensor& tensor : layer.tensors) {
        if (is_small(tensor) && file.read({tensor}).size() != 1) std::abort();
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
