// A table is fitted, evaluated on rows it has not seen, and the rate 1/beta of its loss printed with its formula.

#include <cstdio>
#include <lipschitzlr/core.hpp>

using namespace lipschitzlr;

int main(int count, char** arguments) {
  const data::Table table = count > 1 ? data::read_table(arguments[1]) : data::catalogue::load("breast-cancer");
  Random random(1);
  const data::Split split = data::split_rows(table, 0.25, random);
  const data::Table training = data::take_rows(table, split.train), unseen = data::take_rows(table, split.test);

  linear::FitOptions options;
  options.penalty.l2 = 0.01;
  const linear::Model model = linear::fit(training, options);

  const Vector<double> predicted = model.predict(unseen.features);
  const Index right = (predicted.array() == unseen.target.array()).count();
  std::printf("accuracy %.1f %% on %td unseen rows\n", 100.0 * right / unseen.rows(), unseen.rows());

  ThreadPool pool;
  const auto problem = linear::make_problem<double>(training, linear::prepare(training, model.family, options), pool);
  const bound::Constant beta = problem->constant(bound::ConstantKind::gradient);
  std::printf("rate %.4g from %s\n", beta.rate(), beta.explain().c_str());
}
