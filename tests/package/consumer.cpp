// What a user of the library writes: a table is read, a Lipschitz constant follows, and its rate. One function of every
// kind of dependency is called (decompression, embedded data, dense algebra), so that a forgotten one shows here.

#include <cmath>
#include <cstdio>

#include "lipschitzlr/core.hpp"

int main() {
  using namespace lipschitzlr;
  const data::Table table = data::parse_table("a,b,kind\n3,0,no\n0,4,yes\n", "two rows");
  const auto& features = std::get<DenseMatrix<double>>(table.features);
  const bound::Constant constant = bound::logistic_regression(
      bound::ConstantKind::published, bound::frobenius_norm(features), bound::row_norm_sum(features), table.rows());
  const auto rule = rate::make_rule("sgd");
  rule->observe({.gradient_bound = constant.value});
  std::printf("%s: rate %g\n", constant.explain().c_str(), rule->rate());

  // ||X||_F / 2m = 5 / 4
  const bool right = table.labels.at(1) == "yes" && std::abs(rule->rate() - 0.8) < 1e-12;
  return right && data::catalogue::load("iris").rows() == 150 ? 0 : 1;
}
