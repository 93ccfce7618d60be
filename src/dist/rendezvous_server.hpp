#pragma once
// Where the processes of a group find one another: a thread of rank 0. It admits clients that know the token, stores
// the keys and values by which they connect, and finds out which rank is to blame when a collective call fails.
// libtorch's TCPStore would listen at every address of the machine, to everybody, and could not tell whose connection
// broke.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "dist/wire.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/world_env.hpp"

namespace lipschitzlr::dist {

inline constexpr const char* kProtocol = "lipschitzlr 1";

class RendezvousServer {
 public:
  // Throws Error (usage) when the port is busy, or other machines could join because there is no token.
  explicit RendezvousServer(const WorldEnv& world);
  ~RendezvousServer();  // gives the others time to read why the group ended
  RendezvousServer(const RendezvousServer&) = delete;
  RendezvousServer& operator=(const RendezvousServer&) = delete;

 private:
  enum class Presence { absent, here, left, lost };

  struct Connection {
    Socket socket;
    Inbox inbox;
    std::string nonce;
    Clock::time_point since;
    int rank = -1;  // until it has proved that it knows the token
    bool closed = false;
    bool answered = false;       // the last probe
    std::uint64_t progress = 0;  // collective calls it has begun
  };

  void run();
  void wait_for_events();
  void accept_connection();
  void serve(Connection& client);
  void handle(Connection& client, const Message& message);
  void admit(Connection& client, const Message& request);
  void refuse(Connection& client, Fault fault, const std::string& sentence);
  void answer(const Connection& client, const Message& request, std::string body);
  void store(Connection& client, const Message& request);  // set, get, add, remove, count
  void remove_closed();
  void check_deadlines();
  void probe_all();
  void blame();
  void end_group(Fault fault, const std::string& sentence);
  std::ptrdiff_t unauthenticated() const;
  std::vector<int> ranks_that_are(Presence presence) const;

  WorldEnv world_;
  Socket listener_, wake_reader_, wake_writer_;
  Clock::time_point start_ = Clock::now();
  std::vector<std::unique_ptr<Connection>> clients_;
  std::vector<Presence> presence_;
  std::map<std::string, std::string> values_;
  std::set<std::string> refusals_;            // for the message when some process never joins
  std::optional<Message> verdict_;            // why the group ended
  std::optional<Clock::time_point> probed_;   // since a collective call failed
  std::optional<Clock::time_point> closing_;  // since rank 0 wants to end
  bool complete_ = false;
  std::thread thread_;
};

// What client and server both hash: proves that the client knows the token without showing it.
std::string proof_of(const std::string& nonce, const std::string& token);
std::string random_text();  // 32 hexadecimal digits

}  // namespace lipschitzlr::dist
