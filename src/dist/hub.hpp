#pragma once
// The place at which the processes of a world meet, a thread of rank 0. It lets in who knows the token, keeps what they
// tell one another while they connect, and finds out who is missing when they wait in vain. libtorch's TCPStore would
// listen at every address of the machine, to everybody, and could not tell whose connection broke: hence our own.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dist/wire.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/surroundings.hpp"

namespace lipschitzlr::dist {

inline constexpr const char* kProtocol = "lipschitzlr 1";

class Hub {
 public:
  explicit Hub(const Surroundings& surroundings);  // throws Error (usage) when the port is busy
  ~Hub();                                          // gives the others time to read why the world ended
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

 private:
  enum class Presence { absent, here, left, lost };

  struct Guest {
    Socket socket;
    Inbox inbox;
    std::string nonce;
    Clock::time_point since;
    int rank = -1;  // until it has proved that it belongs here
    bool gone = false;
    bool answered = false;       // the last probe
    std::uint64_t progress = 0;  // collective calls it has begun
  };

  void run();
  void wait_for_events();
  void accept_guest();
  void serve(Guest& guest);
  void handle(Guest& guest, const Message& message);
  void admit(Guest& guest, const Message& hello);
  void refuse(Guest& guest, Fault fault, const std::string& sentence);
  void answer(const Guest& guest, const Message& question, std::string body);
  void keep(Guest& guest, const Message& message);  // set, look, add, drop, count
  void remove_gone();
  void look_at_clock();
  void begin_doubt();
  void decide();
  void end_world(Fault fault, const std::string& sentence);
  std::ptrdiff_t strangers() const;
  std::vector<int> ranks_that_are(Presence presence) const;

  Surroundings world_;
  Socket door_, wake_reader_, wake_writer_;
  Clock::time_point start_ = Clock::now();
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<Presence> presence_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> refusals_;         // for the message when the world does not come together
  std::optional<Message> verdict_;            // why the world ended
  std::optional<Clock::time_point> doubt_;    // since when somebody has waited in vain
  std::optional<Clock::time_point> closing_;  // since when rank 0 wants to end
  bool complete_ = false;
  std::thread thread_;
};

// What member and hub both hash: proves that the member knows the token, and does not show it.
std::string proof_of(const std::string& nonce, const std::string& token);
std::string random_text();  // 32 hexadecimal digits
// "rank 2", "ranks 1, 3"
std::string named(const std::vector<int>& ranks);

}  // namespace lipschitzlr::dist
