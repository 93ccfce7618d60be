// Reads one table and prints, as one line of JSON, what it cost: wall and processor seconds, and by how much the peak
// of resident memory grew, beside the size of the matrix that came out. Called by compare.py.

#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <string>

#include "lipschitzlr/data/table/read.hpp"

namespace {

using namespace lipschitzlr;

// Of this program alone: getrusage's figure starts with what the calling process had.
long peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long kilobytes = 0;
  while (status >> word && word != "VmHWM:") continue;
  status >> kilobytes;
  return kilobytes * 1024;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Features and target together, as they are stored.
long stored_bytes(const data::Table& table) {
  long bytes = static_cast<long>(table.target.size() * sizeof(double));
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&table.features)) {
    return bytes + static_cast<long>(dense->size() * sizeof(double));
  }
  const auto& sparse = std::get<SparseMatrix<double>>(table.features);
  return bytes + static_cast<long>(sparse.nonZeros() * (sizeof(double) + sizeof(std::int32_t)) +
                                   (sparse.rows() + 1) * sizeof(std::int32_t));
}

}  // namespace

int main(int count, char** arguments) {
  const bool raw = count == 4 && std::string(arguments[3]) == "raw";
  if (count != (raw ? 4 : 3)) {
    std::fprintf(stderr,
                 "usage: read_bench FILE THREADS [raw] (- for standard input; raw: with texts and gaps, as fit reads "
                 "it)\n");
    return 2;
  }
  try {
    const long peak_before = peak_bytes();
    const auto start = std::chrono::steady_clock::now();
    const double processor_start = processor_seconds();
    data::ReadOptions options;
    options.raw = raw;
    options.threads = static_cast<unsigned>(std::stoul(arguments[2]));
    const data::Table table = data::read_table(arguments[1], options);
    const double processor = processor_seconds() - processor_start;
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf(
        "{\"wall\": %.6f, \"processor\": %.6f, \"peak\": %ld, \"matrix\": %ld, \"rows\": %ld, \"sum\": %.17g}\n", wall,
        processor, peak_bytes() - peak_before, stored_bytes(table), static_cast<long>(table.rows()),
        table.target.sum());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
