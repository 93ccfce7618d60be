#pragma once
// Another program, started as a child process: in a process group of its own, so that Ctrl-C reaches only us and we
// decide what to tell it; with nothing on its standard input; and terminated when we die.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"

namespace lipschitzlr {

class Subprocess {
 public:
  enum class Output {
    inherit,         // goes where ours goes
    discard,         // standard output is thrown away, standard error inherited
    capture,         // standard output comes through a pipe, standard error is inherited
    capture_errors,  // both come through the pipe
  };
  using Variables = std::vector<std::pair<std::string, std::string>>;  // an empty value removes the variable

  // words: the program, a path or a name looked up in PATH, and its arguments. Throws Error (usage) when it can't be
  // started.
  explicit Subprocess(const std::vector<std::string>& words, Output output = Output::inherit,
                      const Variables& variables = {});

  int output() const { return pipe_.get(); }  // to poll; -1 when nothing more comes
  std::string read_output();                  // what there is, waiting for something; empty at the end
  bool running() const { return !status_; }
  void poll();                    // sees whether it has ended
  void signal(int number) const;  // if it still runs
  int exit_code() const;          // 128 + the signal that ended it
  bool killed() const;

  // Waits for its end and returns the exit code. stop is asked many times a second: the first time it says yes, the
  // process gets SIGINT, and may save its work. What it prints is added to text.
  int wait(const std::function<bool()>& stop = {}, std::string* text = nullptr);

 private:
  pid_t id_ = -1;
  Descriptor pipe_;
  std::optional<int> status_;
};

// The path of a program or script of ours that is started by this one: ../libexec/lipschitzlr/NAME beside the folder of
// the running program. Empty when it is not there.
std::string helper_program(const std::string& name);

// Replaces this process by the program. Throws Error (usage) when it can't be started.
[[noreturn]] void become_program(const std::vector<std::string>& words);

}  // namespace lipschitzlr
