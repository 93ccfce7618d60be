#pragma once
// One process of a launch: started with its variables, in a group of its own so that a key pressed reaches it once, and
// through us; ended when we are.

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dist/wire.hpp"

namespace lipschitzlr::dist {

class Child {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  // Output is our own for a child without prefix, else it comes through a pipe. Throws Error (usage).
  Child(const std::string& program, const std::vector<std::string>& words, const Variables& variables,
        std::string prefix);

  int output() const { return pipe_.get(); }  // -1: nothing more comes
  void pass_on();                             // what is there, in whole lines
  bool running() const { return !status_; }
  void look();                    // whether it has ended
  void signal(int number) const;  // if it still runs
  int exit_code() const;          // 128 + the signal that ended it
  bool killed() const;

 private:
  [[noreturn]] void become(std::vector<char*> words, const Variables& variables, int output) const;

  pid_t id_ = -1;
  Socket pipe_;
  std::string prefix_, line_;
  std::optional<int> status_;
};

}  // namespace lipschitzlr::dist
