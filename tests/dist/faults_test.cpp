// What the others say when one process of several is killed, stops, or ends early.

#include <gtest/gtest.h>
#include <signal.h>

#include "dist/processes.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

using test::Ended;
using test::environment_of;
using test::Process;

// argument: "RANK HOW", what becomes of that rank after the first sum.
LIPSCHITZLR_WORK(one_fails) {
  std::vector<double> values(1000, 1.0);
  communicator.sum(std::span<double>(values));
  out << values[0] << " " << std::flush;
  const std::string text = test::argument();
  if (communicator.rank() == std::stoi(text)) {
    const std::string how = text.substr(text.find(' ') + 1);
    if (how == "killed") raise(SIGKILL);
    if (how == "stopped") raise(SIGSTOP);
    throw Error(Fault::data, "a file is gone");
  }
  for (int step = 0; step < 3; ++step) communicator.sum(std::span<double>(values));
}

// The first of the three that does not fail tells; the failing one is ended if it still is there.
std::vector<Ended> run_three(int rank, const std::string& how, double timeout) {
  const int port = test::free_port();
  std::vector<std::unique_ptr<Process>> processes;
  for (int each = 0; each < 3; ++each) {
    test::Environment environment = environment_of(each, 3, port, timeout);
    environment["LIPSCHITZLR_TEST_ARGUMENT"] = std::to_string(rank) + " " + how;
    processes.push_back(std::make_unique<Process>("one_fails", environment));
  }
  std::vector<Ended> others;
  for (int each = 0; each < 3; ++each) {
    if (each != rank) others.push_back(processes[static_cast<std::size_t>(each)]->wait());
  }
  return others;
}

void expect_all(const std::vector<Ended>& ended, const std::string& sentence) {
  for (const Ended& one : ended) {
    EXPECT_EQ(one.exit_code, 4);
    EXPECT_EQ(one.written, "3 " + sentence);
  }
}

TEST(Faults, AKilledRankIsNamedByAllOthersAtOnce) {
  const std::vector<Ended> others = run_three(1, "killed", 600);
  expect_all(others, "rank 1 was lost: its process was killed, or its machine can't be reached");
  for (const Ended& one : others) EXPECT_LT(one.seconds, 300);
}

TEST(Faults, TheEndOfRankZeroIsReportedByAllOthers) {
  expect_all(run_three(0, "killed", 60), "rank 0 was lost or has ended, and with it the rendezvous of the processes");
}

TEST(Faults, AStoppedRankIsNamedAfterTheTimeout) {
  expect_all(run_three(2, "stopped", 15), "rank 2 hangs or can't be reached: no answer");
}

TEST(Faults, AStoppedRankZeroIsNamedAfterTheTimeout) {
  for (const Ended& one : run_three(0, "stopped", 15)) {
    EXPECT_EQ(one.exit_code, 4);
    EXPECT_NE(one.written.find("rank 0 hangs or can't be reached"), std::string::npos) << one.written;
  }
}

TEST(Faults, ARankThatEndsWithAnErrorOfItsOwnIsNamed) {
  expect_all(run_three(2, "ends", 60), "rank 2 ended before the others; see its own message");
}

}  // namespace
}  // namespace lipschitzlr
