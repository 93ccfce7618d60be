#pragma once
// One process's connection to the hub: it lets us in, answers our questions, and says who is lost when a collective
// call failed. A thread listens, so that a process whose computation hangs can still say how far it is.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "dist/wire.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/surroundings.hpp"

namespace lipschitzlr::dist {

class Member {
 public:
  explicit Member(const Surroundings& surroundings);  // comes back when all processes are there; throws Error
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Throws Error (training) when the world has ended, or no answer comes within the timeout.
  std::string ask(Kind kind, const std::string& body);
  void advance() { ++progress_; }                        // one more collective call begins
  [[noreturn]] void explain(const std::string& reason);  // who is to blame that a collective call failed
  void leave();  // says that we end, before the others can notice; the last thing to be said, once

 private:
  void enter(const Surroundings& surroundings);
  bool knock(const Surroundings& surroundings, Clock::time_point deadline);  // false: try again
  std::optional<Message> next_message(Clock::time_point deadline);
  void listen();
  void note(const Message& message);
  void send(const Message& message);

  const Clock::duration patience_;  // the timeout
  Socket socket_;
  Inbox inbox_;
  std::mutex sending_, state_;
  std::condition_variable changed_;
  std::map<std::uint32_t, std::string> answers_;
  std::optional<Error> verdict_;
  bool closed_ = false, left_ = false;
  std::uint32_t questions_ = 0;
  std::atomic<std::uint64_t> progress_ = 0;
  std::thread thread_;
};

}  // namespace lipschitzlr::dist
