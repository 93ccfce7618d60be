#pragma once
// One process's connection to the rendezvous server: it stores keys and values for us, and says which rank is to blame
// when a collective call failed. A thread listens, so that a process whose computation hangs can still say how far it
// is.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "dist/wire.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/world_env.hpp"

namespace lipschitzlr::dist {

class RendezvousClient {
 public:
  explicit RendezvousClient(const WorldEnv& world);  // returns when all processes have joined; throws Error
  ~RendezvousClient();
  RendezvousClient(const RendezvousClient&) = delete;
  RendezvousClient& operator=(const RendezvousClient&) = delete;

  // Throws Error (training) when the group has ended, or no answer comes within the timeout.
  std::string request(Kind kind, const std::string& body);
  void advance() { ++progress_; }                            // one more collective call begins
  [[noreturn]] void throw_blame(const std::string& reason);  // which rank is to blame that a collective call failed
  void leave();  // says that we end, before the others can notice; the last message

 private:
  void join(const WorldEnv& world);
  bool try_to_join(const WorldEnv& world, Clock::time_point deadline);  // false: try again
  std::optional<Message> next_message(Clock::time_point deadline);
  void listen();
  void handle(const Message& message);
  void send(const Message& message);

  const Clock::duration timeout_;
  Socket socket_;
  Inbox inbox_;
  std::mutex sending_, state_;
  std::condition_variable changed_;
  std::map<std::uint32_t, std::string> answers_;
  std::optional<Error> verdict_;
  bool closed_ = false, left_ = false;
  std::uint32_t requests_ = 0;
  std::atomic<std::uint64_t> progress_ = 0;
  std::thread thread_;
};

}  // namespace lipschitzlr::dist
