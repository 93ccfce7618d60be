// What a user of the installed library writes: a table and a Lipschitz constant, with nothing of ours but the package.

#include <cmath>
#include <cstdio>

#include "lipschitzlr/bound/constant.hpp"
#include "lipschitzlr/data/table.hpp"

int main() {
  using namespace lipschitzlr;
  data::Table table;
  table.features = DenseMatrix<double>{{3, 0}, {0, 4}};
  table.target = Vector<double>{{2, 7}};
  data::make_classes(table);

  bound::Constant constant{.name = "published", .value = 0.5, .formula = "||X||_F / 2m", .inputs = {{"m", 2}}};
  std::puts(constant.explain().c_str());
  return table.rows() == 2 && table.labels.at(1) == "7" && std::abs(constant.rate() - 2) < 1e-12 ? 0 : 1;
}
