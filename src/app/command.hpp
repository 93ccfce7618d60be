#pragma once
// A command of the program as data: its name, its options (run/option.hpp), what it does. The parser and --help
// (command_line.cpp), the manual page (manual.cpp) and the completion (completion.cpp) are made from it.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lipschitzlr/run/option.hpp"

namespace lipschitzlr::app {

struct Call {
  std::vector<std::string> words;  // of the command line, for records
  std::set<std::string> given;     // names of the options that are on the command line or in the file of --config
};

struct Command {
  std::string name, summary;
  run::Options options = {};
  std::function<int(const Call&)> run = {};  // the exit code; the options are set
  std::string details = {};                  // what else a user has to know, below the options
  std::string examples = {};                 // one a line, without the name of the program in front
  std::vector<Command> commands = {};
  bool hidden = false;        // for programs and tests: neither in --help nor in the manual
  bool takes_config = false;  // has --config FILE
};

}  // namespace lipschitzlr::app
