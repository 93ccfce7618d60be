// What a user of the component torch writes: the constant of a network's loss from the activations of one batch.

#include <ATen/ops/ones.h>

#include <cmath>
#include <cstdio>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/connect.hpp"
#include "lipschitzlr/nn/keras.hpp"
#include "lipschitzlr/nn/penultimate.hpp"

// A call is enough to show that HDF5 came along.
bool keras_is_there() {
  try {
    lipschitzlr::nn::load_keras_weights("no-such-file.h5", {});
  } catch (const lipschitzlr::Error& error) {
    return error.exit_code() == 3;
  }
  return false;
}

// So does a communicator, of one process here.
bool communicator_works() { return lipschitzlr::dist::connect({})->size() == 1; }

int main() {
  using namespace lipschitzlr;
  const nn::PenultimateNorms norms = nn::measure_penultimate(at::ones({4, 9}));
  const bound::Constant constant = nn::cross_entropy(10)(bound::ConstantKind::published, norms);
  std::puts(constant.explain().c_str());
  return std::abs(constant.value - 9.0 / 40 * 6) < 1e-12 && keras_is_there() && communicator_works() ? 0 : 1;
}
