#include "dist/rendezvous_client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "dist/rendezvous_server.hpp"

namespace lipschitzlr::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenTries(50);
constexpr milliseconds kChallengeTimeout(5000);  // a server sends it at once
constexpr milliseconds kBlameTimeout(8000);      // it needs a few seconds to find out who is lost
constexpr milliseconds kLeaveTimeout(1000);
constexpr milliseconds kExtra(5000);  // it says who did not connect, a little after the timeout

Clock::duration timeout_of(const WorldEnv& world) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(world.timeout));
}

Error error_of(const Message& refusal) {
  const std::vector<std::string> parts = unpack(refusal.body);
  if (parts.size() != 2 || parts[0].size() != 1) return {Fault::training, "rank 0 ended the work"};
  return {static_cast<Fault>(parts[0][0] - '0'), parts[1]};
}

Error unreachable(const std::string& reason) {
  return {Fault::training, fmt::format("rank 0 hangs or can't be reached: {}", reason)};
}

}  // namespace

RendezvousClient::RendezvousClient(const WorldEnv& world) : timeout_(timeout_of(world)) {
  join(world);
  thread_ = std::thread([this] { listen(); });
}

RendezvousClient::~RendezvousClient() {
  leave();
  shutdown(socket_.get(), SHUT_RDWR);
  thread_.join();
}

void RendezvousClient::leave() {
  if (std::exchange(left_, true)) return;
  send({Kind::leave, 0, ""});
  shutdown(socket_.get(), SHUT_WR);
  // What the server still sends is read until it closes: bytes left unread would make the system drop our last message.
  std::unique_lock lock(state_);
  changed_.wait_for(lock, kLeaveTimeout, [this] { return closed_; });
}

void RendezvousClient::join(const WorldEnv& world) {
  const Clock::time_point deadline = Clock::now() + timeout_;
  while (!try_to_join(world, deadline)) {
    if (Clock::now() > deadline) {
      throw Error(Fault::training,
                  fmt::format("rank 0 could not be reached within {:g} s: nothing answers at {} port {}", world.timeout,
                              world.address, world.port));
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

bool RendezvousClient::try_to_join(const WorldEnv& world, Clock::time_point deadline) {
  socket_ = connect_to(world.address, world.port);
  inbox_ = {};
  if (!socket_.open()) return false;
  const std::optional<Message> challenge = next_message(std::min(deadline, Clock::now() + kChallengeTimeout));
  if (!challenge) return false;
  const std::vector<std::string> parts = unpack(challenge->body);
  if (challenge->kind != Kind::challenge || parts.size() != 2 || parts[0] != kProtocol) {
    throw Error(Fault::usage, fmt::format("what answers at {} port {} is not rank 0 of this version of lipschitzlr",
                                          world.address, world.port));
  }
  send_message(
      socket_,
      {Kind::join, 0,
       pack({kProtocol, std::to_string(world.rank), std::to_string(world.size), proof_of(parts[1], world.token)})});
  const std::optional<Message> reply = next_message(Clock::now() + timeout_ + kExtra);
  if (!reply) return false;
  if (reply->kind == Kind::refusal) throw error_of(*reply);
  return reply->kind == Kind::welcome;
}

std::optional<Message> RendezvousClient::next_message(Clock::time_point deadline) {
  while (true) {
    if (std::optional<Message> message = inbox_.next()) return message;
    const auto rest = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
    pollfd watched{socket_.get(), POLLIN, 0};
    if (rest <= 0) return std::nullopt;
    const int ready = poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(rest, 1000)));
    if (ready > 0 && watched.revents != 0 && !inbox_.receive(socket_)) return std::nullopt;
  }
}

void RendezvousClient::listen() {
  bool open = true;
  while (open) {
    while (const std::optional<Message> message = inbox_.next()) handle(*message);
    open = inbox_.receive(socket_);
  }
  while (const std::optional<Message> message = inbox_.next()) handle(*message);
  const std::lock_guard lock(state_);
  closed_ = true;
  if (!verdict_)
    verdict_ = Error(Fault::training, "rank 0 was lost or has ended, and with it the rendezvous of the processes");
  changed_.notify_all();
}

void RendezvousClient::handle(const Message& message) {
  if (message.kind == Kind::probe) return send({Kind::progress, 0, std::to_string(progress_.load())});
  const std::lock_guard lock(state_);
  if (message.kind == Kind::answer) answers_[message.number] = message.body;
  if (message.kind == Kind::refusal && !verdict_) verdict_ = error_of(message);
  changed_.notify_all();
}

void RendezvousClient::send(const Message& message) {
  const std::lock_guard lock(sending_);
  send_message(socket_, message);  // a server that is gone shows when we listen
}

std::string RendezvousClient::request(Kind kind, const std::string& body) {
  std::unique_lock lock(state_);
  const std::uint32_t number = ++requests_;
  lock.unlock();
  send({kind, number, body});
  lock.lock();
  changed_.wait_for(lock, timeout_, [&] { return answers_.contains(number) || verdict_; });
  if (!answers_.contains(number)) throw verdict_.value_or(unreachable("it does not answer"));
  std::string answer = std::move(answers_[number]);
  answers_.erase(number);
  return answer;
}

void RendezvousClient::throw_blame(const std::string& reason) {
  send({Kind::failure, 0, ""});
  std::unique_lock lock(state_);
  changed_.wait_for(lock, kBlameTimeout, [&] { return verdict_.has_value(); });
  throw verdict_.value_or(unreachable(reason));
}

}  // namespace lipschitzlr::dist
