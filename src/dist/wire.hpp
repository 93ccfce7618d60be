#pragma once
// Sockets, and the short messages that processes exchange with the rendezvous server: a length, a kind, the number of
// the request and a body.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace lipschitzlr::dist {

using Clock = std::chrono::steady_clock;

enum class Kind : std::uint8_t {
  challenge = 1,  // server: a number used once, to be hashed with the token
  join,           // client: its rank, and the proof that it knows the token
  welcome,        // server: all processes have joined
  refusal,        // server: a sentence; also why the process group ended, then to all
  set,            // client: key and value (answered)
  get,            // client: a key; the answer is '1' and the value, or '0'
  add,            // client: key and a number (answered with the sum)
  remove,         // client: key (answered)
  count,          // client: how many keys? (answered)
  answer,         // server
  failure,        // client: a collective call failed, which rank is to blame?
  probe,          // server: how many collective calls have you begun?
  progress,       // client: so many
  leave,          // client: I end as planned
};

struct Message {
  Kind kind{};
  std::uint32_t number = 0;
  std::string body;
};

using Socket = Descriptor;

// Bound to this very address, not to others of the machine. Throws Error (usage) naming address and port.
Socket listen_at(const std::string& address, int port);
// A closed socket when nothing answers. Throws Error (usage) when the address is unknown.
Socket connect_to(const std::string& address, int port);
// The address of this machine from which the given one is reached.
std::string own_address_towards(const std::string& address);

bool send_message(const Socket& socket, const Message& message);  // false: the other side is gone

// Whether only processes of this machine reach the address. Throws Error (usage) when it is unknown.
bool is_loopback(const std::string& address);

// Bytes as they arrive, cut into messages.
class Inbox {
 public:
  // Nobody can make us take more memory; the limit is lower for who has not proved that it knows the token.
  static constexpr std::size_t kLongest = 1 << 20, kLongestUntrusted = 1 << 10;

  // Reads what is there, waiting for something when the socket blocks. False: the other side is gone, or does not
  // speak this protocol.
  bool receive(const Socket& socket, std::size_t longest = kLongest);
  std::optional<Message> next();

 private:
  std::string bytes_;
};

// Several texts in one body.
std::string pack(const std::vector<std::string_view>& parts);
std::vector<std::string> unpack(std::string_view body);

}  // namespace lipschitzlr::dist
