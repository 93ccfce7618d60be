#include "linear/kernel/kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/isas.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::linear::kernel {
namespace {

// The distance from the exact value in units of the last place of Scalar.
template <class Scalar>
double ulps(Scalar value, long double exact) {
  const Scalar nearest = static_cast<Scalar>(exact);
  const Scalar unit = std::nextafter(nearest, std::numeric_limits<Scalar>::infinity()) - nearest;
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) / static_cast<long double>(unit));
}

template <class Scalar>
void check_functions(const Kernels<Scalar>& kernels) {
  Random random(7);
  std::vector<Scalar> in(20001), out(in.size());
  const double lowest = std::is_same_v<Scalar, float> ? 87 : 708;
  for (Scalar& x : in) x = static_cast<Scalar>(-lowest * std::pow(random.uniform(), 4));
  kernels.exp(in.size(), in.data(), out.data());
  double worst = 0;
  for (std::size_t i = 0; i < in.size(); ++i) worst = std::max(worst, ulps(out[i], std::exp((long double)in[i])));
  EXPECT_LT(worst, 1.5) << kernels.name;

  for (Scalar& x : in) x = static_cast<Scalar>(std::exp(60 * random.uniform() - 50));
  kernels.log1p(in.size(), in.data(), out.data());
  worst = 0;
  for (std::size_t i = 0; i < in.size(); ++i) worst = std::max(worst, ulps(out[i], std::log1p((long double)in[i])));
  EXPECT_LT(worst, 2) << kernels.name;

  const std::vector<Scalar> edges = {0, -1e4, -std::numeric_limits<Scalar>::infinity(), Scalar(std::nan(""))};
  kernels.exp(edges.size(), edges.data(), out.data());
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], 0);
  EXPECT_TRUE(std::isnan(out[3]));
  const std::vector<Scalar> starts = {0, Scalar(1e-30), Scalar(std::nan(""))};
  kernels.log1p(starts.size(), starts.data(), out.data());
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], Scalar(1e-30));
  EXPECT_TRUE(std::isnan(out[2]));
}

TEST(Kernel, ExponentialAndLogarithmAreRightToTheLastPlaces) {
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    ASSERT_EQ(kernels<float>().name, name);
    ASSERT_EQ(kernels<double>().name, name);
    check_functions(kernels<float>());
    check_functions(kernels<double>());
  }
}

}  // namespace
}  // namespace lipschitzlr::linear::kernel
