// Times X'X and Cholesky factors on request, so that algebra.py can take turns with OpenBLAS: algebra_bench THREADS,
// then one command a line on standard input, one line of JSON back, the seconds of the quickest of N times.
//   gram SCALAR ROWS COLUMNS N    X'X of numbers of the type float or double
//   cholesky SIZE N               our factor
//   eigen SIZE N                  Eigen's, compiled as the library is
//   limits                        the machine's operations per second, in double

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <sstream>

#include "lipschitzlr/base/cholesky.hpp"
#include "lipschitzlr/linear/gram.hpp"
#include "machine.hpp"

namespace lipschitzlr::bench {
namespace {

template <class Act>
double quickest(long times, Act act) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  for (long i = 0; i < times; ++i) {
    const auto start = Clock::now();
    act();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

template <class Scalar>
double gram_seconds(Index rows, Index columns, long times, ThreadPool& pool) {
  const DenseMatrix<Scalar> x = DenseMatrix<Scalar>::Random(rows, columns);
  return quickest(times, [&] { linear::gram(x, {}, pool); });
}

Eigen::MatrixXd positive_matrix(Index size) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Random(size, size);
  matrix = (matrix + matrix.transpose()).eval();
  matrix.diagonal().array() += 2.0 * static_cast<double>(size);
  return matrix;
}

double answer(std::istringstream& words, ThreadPool& pool) {
  std::string command, scalar;
  Index rows = 0, columns = 0;
  long times = 0;
  words >> command;
  if (command == "limits") return peak_flops<double>(pool);
  if (command == "gram") {
    words >> scalar >> rows >> columns >> times;
    return scalar == "float" ? gram_seconds<float>(rows, columns, times, pool)
                             : gram_seconds<double>(rows, columns, times, pool);
  }
  words >> rows >> times;
  const Eigen::MatrixXd matrix = positive_matrix(rows);
  if (command == "cholesky") return quickest(times, [&] { Cholesky factor(matrix, &pool); });
  return quickest(times, [&] { Eigen::LLT<Eigen::MatrixXd> factor(matrix); });
}

}  // namespace
}  // namespace lipschitzlr::bench

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "algebra_bench THREADS\n";
    return 2;
  }
  lipschitzlr::ThreadPool pool(static_cast<unsigned>(std::stoul(arguments[1])));
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::cout << fmt::format("{:.9g}\n", lipschitzlr::bench::answer(words, pool)) << std::flush;
  }
}
