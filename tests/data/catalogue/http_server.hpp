#pragma once
// Starts http_server.py on a free port of 127.0.0.1 and stops it at the end.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

// A table that it serves, and how a catalogue reads it.
inline const std::string kTable = "a,b,y\n1,2,3\n4,5,6\n7,8,9\n";
inline Table read_plain(const std::vector<std::string>& paths) { return read_table(paths.at(0)); }

class HttpServer {
 public:
  HttpServer() {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) throw std::runtime_error("no pipe");
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (int end : {in[0], in[1], out[0], out[1]}) close(end);
      execlp("python3", "python3", LIPSCHITZLR_TEST_DIR "/data/catalogue/http_server.py", nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    std::FILE* lines = fdopen(out[0], "r");
    if (std::fscanf(lines, "%d", &port_) != 1) throw std::runtime_error("the test server did not start");
    std::fclose(lines);
  }
  ~HttpServer() {
    close(input_);
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

 private:
  pid_t process_ = -1;
  int input_ = -1, port_ = 0;
};

}  // namespace lipschitzlr::data
