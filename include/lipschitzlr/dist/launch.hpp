#pragma once
// Starts one command as several processes on this machine that know of one another, and waits for them: the first that
// fails ends all, Ctrl-C and SIGTERM reach every one, and what they print is passed on in whole lines.

#include <string>
#include <vector>

namespace lipschitzlr::dist {

struct LaunchOptions {
  int processes = 2;
  std::string program;  // to start, with these words
  std::vector<std::string> words;
  std::string address = "127.0.0.1";  // where rank 0 listens: an address of this machine
  int port = 0;                       // 0: a free one
  double timeout = 60;                // seconds: how long a process may keep the others waiting
  double settle = 1;                  // seconds in which failures may have one cause: the most serious is reported
  double grace = 10;                  // seconds for the others to end when one has failed
};

// Rank 0 prints as if it were alone; lines of the others go to standard error and begin with their rank: "[1] ".
// Returns the exit code: 0 when all went well, else that of the rank that failed first (128 + signal when it was
// killed). Throws Error (usage) when nothing could be started.
int launch(const LaunchOptions& options);

}  // namespace lipschitzlr::dist
