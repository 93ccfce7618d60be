#include "base/subprocess.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

using Output = Subprocess::Output;

std::string output_of(const std::string& script, Output output = Output::capture) {
  std::string text;
  EXPECT_EQ(Subprocess({"sh", "-c", script}, output).wait({}, &text), 0);
  return text;
}

TEST(Subprocess, GivesOutputAndExitCode) {
  std::string text;
  EXPECT_EQ(Subprocess({"sh", "-c", "echo one; echo two; exit 7"}, Output::capture).wait({}, &text), 7);
  EXPECT_EQ(text, "one\ntwo\n");
  EXPECT_EQ(output_of("echo one; echo two >&2", Output::capture_errors), "one\ntwo\n");
  EXPECT_EQ(output_of("head -c 200000 /dev/zero").size(), 200000u);
}

TEST(Subprocess, ReadsNothingAndHasAGroupOfItsOwn) {
  EXPECT_EQ(output_of("wc -c < /dev/stdin").find_first_not_of(" \n0"), std::string::npos);
  EXPECT_EQ(output_of("set -- $(cat /proc/$$/stat); test $1 = $5 && echo leader"), "leader\n");  // process, its group
}

TEST(Subprocess, PassesVariablesAndRemovesThem) {
  setenv("LIPSCHITZLR_TEST_GONE", "1", 1);
  std::string text;
  Subprocess({"sh", "-c", "echo ${LIPSCHITZLR_TEST_NEW}-${LIPSCHITZLR_TEST_GONE-unset}"}, Output::capture,
             {{"LIPSCHITZLR_TEST_NEW", "x y"}, {"LIPSCHITZLR_TEST_GONE", ""}})
      .wait({}, &text);
  unsetenv("LIPSCHITZLR_TEST_GONE");
  EXPECT_EQ(text, "x y-unset\n");
}

TEST(Subprocess, SaysWhyAProgramCantBeStarted) {
  try {
    Subprocess({"/no/such/program"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_STREQ(error.what(), "/no/such/program: can't be started: No such file or directory");
  }
}

TEST(Subprocess, IsInterruptedOnceWhenAskedToStop) {
  std::string text;
  int asked = 0;
  Subprocess process({"sh", "-c", "trap 'echo saved; exit 130' INT; echo ready; while :; do sleep 0.05; done"},
                     Output::capture);
  const int code = process.wait([&] { return text == "ready\n" && ++asked > 0; }, &text);
  EXPECT_EQ(code, 130);
  EXPECT_EQ(text, "ready\nsaved\n");
  EXPECT_EQ(asked, 1);
}

TEST(Subprocess, TellsASignalFromAnExitCode) {
  Subprocess process({"sh", "-c", "kill -KILL $$"});
  EXPECT_EQ(process.wait(), 128 + SIGKILL);
  EXPECT_TRUE(process.killed());
}

// A program that leaves a process behind with its pipe open has ended all the same.
TEST(Subprocess, DoesNotWaitForWhatItLeavesBehind) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(output_of("sleep 600 2>/dev/null & echo done"), "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(300));
}

}  // namespace
}  // namespace lipschitzlr
