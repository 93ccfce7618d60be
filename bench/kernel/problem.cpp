#include "problem.hpp"

#include <fmt/format.h>

#include <fstream>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bench {
namespace {

template <class Number>
void fill(const std::string& folder, const char* name, Number* numbers, Index count) {
  const std::string path = folder + "/" + name;
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(numbers), static_cast<std::streamsize>(sizeof(Number)) * count);
  if (!in) throw Error(Fault::data, fmt::format("{}: {} numbers can't be read", path, count));
}

}  // namespace

Description read_description(const std::string& folder) {
  std::ifstream in(folder + "/problem.txt");
  std::string family;
  Description found;
  in >> family >> found.scalar >> found.kind >> found.rows >> found.columns >> found.outputs >> found.stored;
  if (!in) throw Error(Fault::data, fmt::format("{}/problem.txt is not the description of a problem", folder));
  found.family = linear::family_from(family);
  return found;
}

template <class Scalar>
Problem<Scalar> read_problem(const std::string& folder, const Description& description) {
  Problem<Scalar> problem;
  problem.targets.resize(description.rows);
  problem.weights.resize(description.columns, description.outputs);
  fill(folder, "targets.bin", problem.targets.data(), problem.targets.size());
  fill(folder, "weights.bin", problem.weights.data(), problem.weights.size());
  if (description.kind == "dense") {
    problem.dense.resize(description.rows, description.columns);
    fill(folder, "features.bin", problem.dense.data(), problem.dense.size());
  } else {
    problem.sparse.resize(description.rows, description.columns);
    problem.sparse.resizeNonZeros(description.stored);
    fill(folder, "features.bin", problem.sparse.valuePtr(), description.stored);
    fill(folder, "columns.bin", problem.sparse.innerIndexPtr(), description.stored);
    fill(folder, "starts.bin", problem.sparse.outerIndexPtr(), description.rows + 1);
  }
  return problem;
}

template Problem<float> read_problem(const std::string& folder, const Description& description);
template Problem<double> read_problem(const std::string& folder, const Description& description);

}  // namespace lipschitzlr::bench
