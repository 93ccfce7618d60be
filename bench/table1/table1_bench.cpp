// table1_bench FOLDER THREADS: for each row of Table 1 whose data are embedded, writes the problem (X, y, w0 as raw
// doubles) into FOLDER and prints a line "row family rows columns outputs rate-name rate threshold iterations seconds"
// for the baseline rate and for 1/L as coded. The seconds cover computing the rate and training to the threshold.
// compare.py does the same in NumPy.

#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/experiment/setting.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace {

using namespace lipschitzlr;
using Clock = std::chrono::steady_clock;

template <class Matrix>
void write(const std::string& path, const Matrix& matrix) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(matrix.data()),
             static_cast<std::streamsize>(matrix.size() * sizeof(double)));
}

void time_rate(const experiment::Recipe& recipe, const experiment::RowData& source, bool baseline,
               const std::string& folder, ThreadPool& pool) {
  const experiment::Setting setting(recipe, source, 1, pool);  // afresh: a problem remembers its norms
  linear::State<double> start;
  start.weights = experiment::draw_start(recipe, setting.problem(), 1);
  const auto& features = std::get<DenseMatrix<double>>(setting.problem().matrix());
  write(folder + "/" + recipe.name + ".X", features);
  write(folder + "/" + recipe.name + ".y", setting.problem().targets());
  write(folder + "/" + recipe.name + ".w", start.weights);
  linear::SolverOptions options;
  options.solver = linear::Solver::gd;
  options.loss_threshold = *recipe.linear->threshold;
  options.epochs = 10'000'000;
  const Index outputs = start.weights.cols();
  const Clock::time_point begin = Clock::now();
  options.rate =
      baseline ? recipe.linear->baseline_rate : setting.problem().constant(linear::ConstantKind::coded).rate();
  const auto outcome = linear::solve(setting.problem(), options, std::move(start));
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  fmt::print("{} {} {} {} {} {} {} {} {} {}\n", recipe.name, to_string(recipe.linear->family), features.rows(),
             features.cols(), outputs, baseline ? "baseline" : "coded", *options.rate, options.loss_threshold,
             outcome.checks.measurements, seconds);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    fmt::print(stderr, "use: table1_bench FOLDER THREADS\n");
    return 2;
  }
  ThreadPool pool(static_cast<unsigned>(std::stoul(arguments[2])));
  for (const experiment::Recipe& recipe : experiment::select_recipes("table1", {})) {
    const auto& entry = data::catalogue::entry(recipe.linear->data);
    if (data::catalogue::place(entry) != data::catalogue::Place::embedded) continue;
    const experiment::RowData source = experiment::load_data(recipe);
    for (const bool baseline : {true, false}) time_rate(recipe, source, baseline, arguments[1], pool);
  }
}
