// Any bytes as a model file: refused with an Error, or a model that survives a round trip and predicts.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  static ThreadPool pool(1);
  linear::Model model;
  try {
    model = linear::model_from_json({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  } catch (const Error&) {
    return 0;
  }
  const linear::Model again = linear::model_from_json(linear::to_json(model), "again");
  if (again.weights != model.weights || again.labels != model.labels) std::abort();
  const DenseMatrix<double> rows = DenseMatrix<double>::Ones(2, static_cast<Index>(model.feature_names.size()));
  if (linear::scores(model, rows, pool).rows() != 2) std::abort();
  return 0;
}
