#pragma once
// The one exception of this library. Its sentence names the file, line, column or option and what to do; its fault says
// who has to act, and is the exit code of the command line.

#include <stdexcept>
#include <string>

namespace lipschitzlr {

enum class Fault {
  usage = 2,          // an option or argument is wrong
  data = 3,           // a file is missing, malformed or does not fit
  training = 4,       // the numbers went wrong: not finite, not converging
  interrupted = 130,  // Ctrl-C; what a shell expects of a program that SIGINT ended
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& sentence) : std::runtime_error(sentence), fault_(fault) {}
  Fault fault() const { return fault_; }
  int exit_code() const { return static_cast<int>(fault_); }

 private:
  Fault fault_;
};

}  // namespace lipschitzlr
