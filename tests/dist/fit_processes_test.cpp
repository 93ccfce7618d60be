// What tests/linear/communicator_test.cpp asks of threads, asked of real processes: the numbers of one process, and the
// same bits in all.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "dist/processes.hpp"
#include "linear/spread.hpp"

namespace lipschitzlr::linear {
namespace {

using test::Ended;
using test::run_processes;

std::vector<SpreadCase> all_cases() {
  std::vector<SpreadCase> cases = measured_cases();
  for (SpreadCase& spread : few_solver_cases()) cases.push_back(std::move(spread));
  return cases;
}

// One line a case, of numbers with all their bits.
LIPSCHITZLR_WORK(spread_numbers) {
  for (const SpreadCase& spread : all_cases()) {
    for (const double number : spread.run(&communicator)) out << fmt::format("{:a} ", number);
    out << "\n";
  }
}

std::vector<Numbers> read_numbers(const std::string& text) {
  std::vector<Numbers> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    all.emplace_back();
    std::istringstream words(line);
    for (std::string word; words >> word;) all.back().push_back(std::strtod(word.c_str(), nullptr));
  }
  return all;
}

TEST(FitProcesses, HaveTheNumbersOfOneAndTheSameBitsInAll) {
  const std::vector<SpreadCase> cases = all_cases();
  std::vector<Numbers> alone;
  for (const SpreadCase& spread : cases) alone.push_back(spread.run(nullptr));
  for (const int size : {2, 3, 4}) {
    const std::vector<Ended> ended = run_processes(size, "spread_numbers");
    for (const Ended& one : ended) {
      ASSERT_EQ(one.exit_code, 0) << one.written;
      EXPECT_EQ(one.written, ended[0].written) << "other bits in a rank";
    }
    const std::vector<Numbers> together = read_numbers(ended[0].written);
    ASSERT_EQ(together.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(difference(cases[i], alone[i], together[i]), "") << size << " processes";
    }
  }
}

}  // namespace
}  // namespace lipschitzlr::linear
