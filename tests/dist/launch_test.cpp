#include "lipschitzlr/dist/launch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::dist {
namespace {

LaunchOptions script(int processes, const std::string& text) {
  LaunchOptions options;
  options.processes = processes;
  options.program = "/bin/sh";
  options.words = {"-c", text};
  return options;
}

struct Outcome {
  int exit_code = 0;
  std::string output, errors;
};

Outcome run(const LaunchOptions& options) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit_code = launch(options);
  outcome.output = testing::internal::GetCapturedStdout();
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

// A folder that goes with the test.
struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lipschitzlr-launch-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  // Waits for files; ends the test program when they never come.
  void expect(const std::vector<std::string>& names) const {
    for (int tries = 0;; ++tries) {
      bool all = true;
      for (const std::string& name : names) all = all && std::filesystem::exists(path / name);
      if (all) return;
      ASSERT_LT(tries, 6000);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  std::filesystem::path path;
};

// The launcher as a process of its own, for signals.
pid_t start(const LaunchOptions& options, const Folder& folder) {
  const pid_t id = fork();
  if (id != 0) return id;
  std::filesystem::current_path(folder.path);
  if (freopen("log", "w", stderr) == nullptr) _exit(99);
  _exit(launch(options));
}

int end_of(pid_t id) {
  int status = 0;
  waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Launch, TellsEachProcessWhoItIs) {
  const Outcome outcome = run(script(3, "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR"));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "0 3 0 3 127.0.0.1\n");
  EXPECT_NE(outcome.errors.find("[1] 1 3 1 3 127.0.0.1\n"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find("[2] 2 3 2 3 127.0.0.1\n"), std::string::npos) << outcome.errors;
}

TEST(Launch, MakesATokenForEveryStart) {
  const LaunchOptions options = script(2, "echo $LIPSCHITZLR_TOKEN");
  const Outcome first = run(options), second = run(options);
  EXPECT_EQ(first.errors, "[1] " + first.output);
  EXPECT_EQ(first.output.size(), 33u);
  EXPECT_NE(first.output, second.output);
}

TEST(Launch, PassesOnWholeLines) {
  const Outcome outcome =
      run(script(3, "for i in 1 2 3 4 5 6 7 8 9; do printf 'one '; printf 'line\n'; done; printf end"));
  const std::set<std::string> whole = {"[1] one line", "[2] one line", "[1] end", "[2] end"};
  std::istringstream lines(outcome.errors);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_TRUE(whole.contains(line)) << line;
  EXPECT_EQ(count, 20);
}

TEST(Launch, EndsAllWhenOneFailsAndTakesItsExitCode) {
  const Outcome outcome = run(script(3, "[ $RANK = 1 ] || exec sleep 1000; echo broken >&2; exit 3"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.errors, "[1] broken\nlipschitzlr: rank 1 failed first, with exit code 3; its message is above\n");
}

TEST(Launch, BlamesTheKilledRankRatherThanThoseThatWaitedForIt) {
  LaunchOptions options = script(3, "[ $RANK = 2 ] || exit 4; kill -9 $$");
  options.settle = 30;  // all have ended long before
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 137);
  EXPECT_EQ(outcome.errors, "lipschitzlr: rank 2 was killed by signal 9 (Killed)\n");
}

TEST(Launch, KillsWhatDoesNotEnd) {
  LaunchOptions options = script(2, "trap '' TERM; [ $RANK = 0 ] || exit 2; while :; do sleep 0.01; done");
  options.grace = 0.5;
  EXPECT_EQ(run(options).exit_code, 2);
}

TEST(Launch, KillsWhatDoesNotEndThoughItIsInterruptedMeanwhile) {
  const Folder folder;
  LaunchOptions options = script(2,
                                 "trap '' INT; trap 'touch asked' TERM; [ $RANK = 1 ] || touch ready; "
                                 "while :; do sleep 0.01; [ $RANK = 0 ] || [ ! -e ready ] || exit 3; done");
  options.grace = 1;
  const pid_t id = start(options, folder);
  folder.expect({"asked"});
  kill(id, SIGINT);
  EXPECT_EQ(end_of(id), 3);
}

TEST(Launch, KillsWhatHangsAfterAnInterrupt) {
  const Folder folder;
  LaunchOptions options = script(2,
                                 "[ $RANK = 0 ] && trap '' INT || trap 'exit 130' INT; touch ready$RANK; "
                                 "while :; do sleep 0.01; done");
  options.timeout = options.grace = 0.5;
  const pid_t id = start(options, folder);
  folder.expect({"ready0", "ready1"});
  kill(id, SIGINT);
  EXPECT_EQ(end_of(id), 130);
}

TEST(Launch, LetsAllEndInTheirOwnTimeAfterOneInterrupt) {
  const Folder folder;
  // The second signal would end it without the file, as it does with a training that saves its checkpoint.
  const std::string text =
      "trap 'trap - INT TERM; sleep 0.$RANK; touch saved$RANK; exit 130' INT; touch ready$RANK; while :; do sleep "
      "0.01; done";
  const pid_t id = start(script(3, text), folder);
  folder.expect({"ready0", "ready1", "ready2"});
  kill(id, SIGINT);
  EXPECT_EQ(end_of(id), 130);
  for (const char* name : {"saved0", "saved1", "saved2"})
    EXPECT_TRUE(std::filesystem::exists(folder.path / name)) << name;
}

TEST(Launch, TakesItsProcessesAlongWhenItIsKilled) {
  const Folder folder;
  const std::string text = "trap 'touch ended$RANK; exit 1' TERM; touch ready$RANK; while :; do sleep 0.01; done";
  const pid_t id = start(script(2, text), folder);
  folder.expect({"ready0", "ready1"});
  kill(id, SIGKILL);
  EXPECT_EQ(end_of(id), -SIGKILL);
  folder.expect({"ended0", "ended1"});
}

TEST(Launch, RefusesAnAddressOfAnotherMachine) {
  LaunchOptions options = script(2, "exit 0");
  options.address = "192.0.2.1";
  EXPECT_THROW(launch(options), Error);
}

}  // namespace
}  // namespace lipschitzlr::dist
