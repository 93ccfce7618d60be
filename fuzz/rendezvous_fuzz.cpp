// Any bytes sent to rank 0's rendezvous, by a stranger or, if the first byte says so, by a process that has joined:
// the server must live on, and still admit who knows the token, unless the group has ended.

#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>

#include "dist/rendezvous_server.hpp"

namespace {

using namespace lipschitzlr::dist;

WorldEnv world() {
  WorldEnv world;
  world.size = 2;
  world.port = 20000 + static_cast<int>(getpid() % 10000);
  world.token = "token";
  return world;
}

Message next(const Socket& socket) {
  Inbox inbox;
  while (true) {
    if (const std::optional<Message> message = inbox.next()) return *message;
    if (!inbox.receive(socket)) return {};
  }
}

// A connection that leaves no port in use behind when it is closed.
Socket connect(const WorldEnv& world) {
  Socket socket = connect_to(world.address, world.port);
  const linger at_once{1, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  return socket;
}

void join(const Socket& socket, const WorldEnv& world, int rank) {
  const std::vector<std::string> challenge = unpack(next(socket).body);
  if (challenge.size() != 2) std::abort();
  send_message(
      socket,
      {Kind::join, 0,
       pack({kProtocol, std::to_string(rank), std::to_string(world.size), proof_of(challenge[1], world.token)})});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const WorldEnv at = world();
  const RendezvousServer server(at);
  {
    const Socket stranger = connect(at);
    if ((bytes[0] & 1) != 0) join(stranger, at, 1);
    send(stranger.get(), bytes + 1, size - 1, MSG_NOSIGNAL);
    shutdown(stranger.get(), SHUT_WR);
    while (next(stranger).kind != Kind{}) continue;  // until the server has read all and closes
  }
  const Socket first = connect(at), second = connect(at);
  join(first, at, 0);
  join(second, at, 1);
  const Kind answer = next(first).kind;
  if (answer != Kind::welcome && answer != Kind::refusal) std::abort();
  send_message(second, {Kind::leave, 0, ""});
  send_message(first, {Kind::leave, 0, ""});
  return 0;
}
