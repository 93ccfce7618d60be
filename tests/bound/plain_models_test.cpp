#include "bound/plain_models.hpp"

#include <gtest/gtest.h>

namespace lipschitzlr::bound::plain {
namespace {

TEST(PlainModels, GradientsAgreeWithFiniteDifferences) {
  for (const Kind kind : {Kind::linear, Kind::logistic, Kind::softmax}) {
    const Problem problem = random_problem(kind, 11);
    Random random(12);
    for (const double scale : {0.01, 0.3, 2.0}) {
      const Numbers w = random_numbers(random, problem.weights(), scale);
      const Numbers g = gradient(problem, w);
      for (std::size_t j = 0; j < w.size(); ++j) {
        const double step = 1e-5;
        Numbers up = w, down = w;
        up[j] += step;
        down[j] -= step;
        EXPECT_NEAR((loss(problem, up) - loss(problem, down)) / (2 * step), g[j], 1e-7 * (1 + std::abs(g[j])));
      }
    }
  }
}

}  // namespace
}  // namespace lipschitzlr::bound::plain
