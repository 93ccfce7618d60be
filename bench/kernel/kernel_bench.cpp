// Evaluates one problem on request, so that compare.py can take turns with NumPy: kernel_bench FOLDER THREADS, then one
// command a line on standard input, one line of JSON back.
//   check          evaluates once, writes FOLDER/gradient.bin, answers with the loss and the instruction set
//   time N         answers with the seconds of N evaluations of all rows together, and of the quickest one
//   batch B N      the same for mini-batches of B rows drawn at random
//   limits         answers with the machine's bytes and operations per second

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <limits>
#include <span>
#include <sstream>
#include <vector>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "machine.hpp"
#include "problem.hpp"

namespace lipschitzlr::bench {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Scalar>
class Bench {
 public:
  Bench(const std::string& folder, const Description& description, unsigned threads)
      : folder_(folder),
        pool_(threads),
        problem_(read_problem<Scalar>(folder, description)),
        objective_(description.kind == "dense"
                       ? linear::Objective<Scalar>(description.family, problem_.dense, problem_.targets,
                                                   description.outputs, pool_)
                       : linear::Objective<Scalar>(description.family, problem_.sparse, problem_.targets,
                                                   description.outputs, pool_)) {}

  void serve() {
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string command;
      words >> command;
      if (command == "check") check();
      if (command == "time") {
        long times = 0;
        words >> times;
        measure(times, {});
      }
      if (command == "batch") {
        std::size_t size = 0;
        long times = 0;
        words >> size >> times;
        measure(times, draw(size));
      }
      if (command == "limits") limits();
      std::cout << std::flush;
    }
  }

 private:
  void check() {
    const double loss = objective_.evaluate(problem_.weights, gradient_);
    std::ofstream(folder_ + "/gradient.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(gradient_.data()),
               static_cast<std::streamsize>(sizeof(Scalar)) * gradient_.size());
    std::cout << fmt::format("{{\"loss\": {:.17g}, \"isa\": \"{}\"}}\n", loss, linear::kernel_isa());
  }

  void measure(long times, const std::vector<Index>& batch) {
    double least = std::numeric_limits<double>::infinity();
    const double start = now();
    double before = start;
    for (long i = 0; i < times; ++i) {
      if (batch.empty()) {
        objective_.evaluate(problem_.weights, gradient_);
      } else {
        objective_.evaluate(problem_.weights, gradient_, batch);
      }
      const double after = now();
      least = std::min(least, after - before);
      before = after;
    }
    std::cout << fmt::format("{{\"seconds\": {:.9g}, \"least\": {:.9g}}}\n", before - start, least);
  }

  std::vector<Index> draw(std::size_t size) {
    std::vector<Index> rows(size);
    for (Index& row : rows)
      row = static_cast<Index>(random_.below(static_cast<std::uint64_t>(problem_.targets.size())));
    return rows;
  }

  // Memory is read from a stretch that no cache holds.
  void limits() {
    const std::vector<char> stretch(256u << 20, 1);
    std::cout << fmt::format("{{\"bytes\": {:.6g}, \"operations\": {:.6g}}}\n",
                             read_bandwidth(stretch.data(), stretch.size(), pool_), peak_flops<Scalar>(pool_));
  }

  std::string folder_;
  ThreadPool pool_;
  Problem<Scalar> problem_;
  linear::Objective<Scalar> objective_;
  linear::Weights<Scalar> gradient_;
  Random random_{1};
};

void run(const std::string& folder, unsigned threads) {
  const Description description = read_description(folder);
  if (description.scalar == "float") {
    Bench<float>(folder, description, threads).serve();
  } else {
    Bench<double>(folder, description, threads).serve();
  }
}

}  // namespace
}  // namespace lipschitzlr::bench

int main(int count, char** arguments) try {
  if (count != 3) {
    std::cerr << "kernel_bench FOLDER THREADS\n";
    return 2;
  }
  lipschitzlr::bench::run(arguments[1], static_cast<unsigned>(std::stoul(arguments[2])));
} catch (const lipschitzlr::Error& error) {
  std::cerr << "kernel_bench: " << error.what() << '\n';
  return error.exit_code();
} catch (const std::exception& error) {
  std::cerr << "kernel_bench: " << error.what() << '\n';
  return 2;
}
