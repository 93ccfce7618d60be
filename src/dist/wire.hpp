#pragma once
// Sockets and the short messages that the processes of a world exchange with the hub (hub.hpp): a length, a kind, the
// number of the question and a body.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lipschitzlr::dist {

using Clock = std::chrono::steady_clock;

// What is said, by whom.
enum class Kind : std::uint8_t {
  greeting = 1,  // hub: a number used once, to be hashed with the token
  hello,         // member: who I am, and the proof that I know the token
  welcome,       // hub
  refusal,       // hub: a sentence; also when the world can't go on, then to all
  set,           // member: key and value (answered)
  look,          // member: a key; the answer is '1' and the value, or '0'
  add,           // member: key and a number (answered with the sum)
  drop,          // member: key (answered)
  count,         // member: how many keys? (answered)
  answer,        // hub
  trouble,       // member: a collective call failed, who is it?
  probe,         // hub: are you there, and how far?
  progress,      // member: so many collective calls
  farewell,      // member: I end as planned
};

struct Message {
  Kind kind{};
  std::uint32_t number = 0;
  std::string body;
};

// A file descriptor that closes itself.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();
  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// Bound to this very address: nothing else of the machine is opened. Throws Error (usage) naming address and port.
Socket listen_at(const std::string& address, int port);
// A closed socket when nothing answers. Throws Error (usage) when the address is none.
Socket connect_to(const std::string& address, int port);
// The address of this machine from which the given one is reached.
std::string own_address_towards(const std::string& address);

bool send_message(const Socket& socket, const Message& message);  // false: the other side is gone

// Bytes as they come in, cut into messages.
class Inbox {
 public:
  // Reads what is there, waiting for something when the socket blocks. False: the other side is gone, or talks
  // nonsense.
  bool receive(const Socket& socket);
  std::optional<Message> next();

 private:
  std::string bytes_;
};

// Several texts in one body.
std::string pack(const std::vector<std::string_view>& parts);
std::vector<std::string> unpack(std::string_view body);

}  // namespace lipschitzlr::dist
