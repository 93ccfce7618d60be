#include "dist/wire.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::dist {
namespace {

constexpr std::size_t kHeader = 9;  // length 4, kind 1, number 4

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& address, int port, int type) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = type;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failure != 0) {
    throw Error(Fault::usage,
                fmt::format("MASTER_ADDR: {} is not a known address: {}", address, gai_strerror(failure)));
  }
  return {found, &freeaddrinfo};
}

void write_number(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
}

std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

std::string listen_error(const std::string& address, int port, int reason) {
  if (reason == EADDRINUSE) {
    return fmt::format("port {} of {} is busy: another program listens there; choose another MASTER_PORT", port,
                       address);
  }
  if (reason == EADDRNOTAVAIL) {
    return fmt::format("MASTER_ADDR: {} is not an address of this machine, on which rank 0 runs", address);
  }
  return fmt::format("can't listen at port {} of {}: {}", port, address, std::strerror(reason));
}

}  // namespace

Socket listen_at(const std::string& address, int port) {
  const Addresses addresses = resolve(address, port, SOCK_STREAM);
  int reason = 0;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    if (socket.open()) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (socket.open() && bind(socket.get(), at->ai_addr, at->ai_addrlen) == 0 && listen(socket.get(), SOMAXCONN) == 0) {
      return socket;
    }
    if (reason != EADDRINUSE) reason = errno;
  }
  throw Error(Fault::usage, listen_error(address, port, reason));
}

Socket connect_to(const std::string& address, int port) {
  const Addresses addresses = resolve(address, port, SOCK_STREAM);
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // A machine that drops what is sent to it must not block us for the system's two minutes.
    const timeval patience{2, 0};
    const int yes = 1;
    if (!socket.open()) continue;
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) continue;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return socket;
  }
  return Socket();
}

std::string own_address_towards(const std::string& address) {
  constexpr int kAnyPort = 9;  // nothing is sent: the system only chooses the way
  const Addresses addresses = resolve(address, kAnyPort, SOCK_DGRAM);
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const Socket socket(::socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    auto* plain = reinterpret_cast<sockaddr*>(&own);
    if (!socket.open() || connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0 ||
        getsockname(socket.get(), plain, &length) != 0) {
      continue;
    }
    char text[NI_MAXHOST];
    if (getnameinfo(plain, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) return text;
  }
  throw Error(Fault::usage, fmt::format("MASTER_ADDR: {} can't be reached from here", address));
}

bool is_loopback(const std::string& address) {
  const Addresses addresses = resolve(address, 0, SOCK_STREAM);
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(at->ai_addr);
    const auto* six = reinterpret_cast<const sockaddr_in6*>(at->ai_addr);
    const bool loopback = at->ai_family == AF_INET    ? ntohl(four->sin_addr.s_addr) >> 24 == 127
                          : at->ai_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&six->sin6_addr)
                                                      : false;
    if (!loopback) return false;
  }
  return true;
}

bool send_message(const Socket& socket, const Message& message) {
  std::string bytes;
  write_number(bytes, static_cast<std::uint32_t>(message.body.size()));
  bytes += static_cast<char>(message.kind);
  write_number(bytes, message.number);
  bytes += message.body;
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = send(socket.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    sent += static_cast<std::size_t>(now);
  }
  return true;
}

bool Inbox::receive(const Socket& socket, std::size_t longest) {
  char bytes[4096];
  ssize_t got = 0;
  do {
    got = recv(socket.get(), bytes, sizeof bytes, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  bytes_.append(bytes, static_cast<std::size_t>(got));
  return bytes_.size() < 4 || read_number(bytes_) <= longest;
}

std::optional<Message> Inbox::next() {
  if (bytes_.size() < kHeader || bytes_.size() < kHeader + read_number(bytes_)) return std::nullopt;
  const std::size_t length = read_number(bytes_);
  Message message{static_cast<Kind>(bytes_[4]), read_number(std::string_view(bytes_).substr(5)),
                  bytes_.substr(kHeader, length)};
  bytes_.erase(0, kHeader + length);
  return message;
}

std::string pack(const std::vector<std::string_view>& parts) {
  std::string body;
  for (const std::string_view part : parts) {
    write_number(body, static_cast<std::uint32_t>(part.size()));
    body += part;
  }
  return body;
}

std::vector<std::string> unpack(std::string_view body) {
  std::vector<std::string> parts;
  while (body.size() >= 4 && body.size() - 4 >= read_number(body)) {
    const std::size_t length = read_number(body);
    parts.emplace_back(body.substr(4, length));
    body.remove_prefix(4 + length);
  }
  return parts;
}

}  // namespace lipschitzlr::dist
