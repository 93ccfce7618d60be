#pragma once
// Real processes for tests: run_processes(2, "work") starts this test program twice more, each copy joins the others
// and runs the work of that name, and what each one wrote comes back. A work stands in the test file:
//
//   LIPSCHITZLR_WORK(work) { out << communicator.rank(); }
//
// Copies are told by the environment which work they are to do; the tests themselves they never reach.

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"

namespace lipschitzlr::test {

using Environment = std::map<std::string, std::string>;

struct Ended {
  int exit_code = 0;    // 128 + the signal that ended it; an Error's own exit code
  std::string written;  // to out; an Error as its sentence
  double seconds = 0;   // from the start of the first process to the end of this one
};

struct ProcessOptions {
  double timeout = 60;
  std::string argument;                          // for the work: argument()
  std::function<Environment(int rank)> changes;  // of the variables of one process
};

using Work = void (*)(Communicator& communicator, std::ostream& out);

struct RegisteredWork {
  RegisteredWork(const std::string& name, Work work);
};

std::vector<Ended> run_processes(int size, const std::string& work, const ProcessOptions& options = {});
std::string argument();  // in a work

// Processes one by one, for tests in which some come late or not at all.
class Process {
 public:
  Process(const std::string& work, const Environment& environment);
  ~Process();  // ends it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Ended wait();
  void signal(int number);
  // What it has written so far.
  std::string written() const;

 private:
  int id_ = -1;
  std::string file_;
  double start_;
};
Environment environment_of(int rank, int size, int port, double timeout = 60);
int free_port();

}  // namespace lipschitzlr::test

#define LIPSCHITZLR_WORK(name)                                                                                    \
  static void name([[maybe_unused]] lipschitzlr::Communicator& communicator, [[maybe_unused]] std::ostream& out); \
  static const lipschitzlr::test::RegisteredWork registered_##name(#name, name);                                  \
  static void name([[maybe_unused]] lipschitzlr::Communicator& communicator, [[maybe_unused]] std::ostream& out)
