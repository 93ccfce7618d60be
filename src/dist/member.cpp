#include "dist/member.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "dist/hub.hpp"

namespace lipschitzlr::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenKnocks(50);
constexpr milliseconds kGreeting(5000);  // a hub greets at once
constexpr milliseconds kAnswer(8000);    // it needs a few seconds to find out who is lost
constexpr milliseconds kLastWords(1000);
constexpr milliseconds kExtra(5000);  // it tells who did not come, a little after the time is over

Clock::duration patience_of(const Surroundings& surroundings) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(surroundings.timeout));
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

Member::Member(const Surroundings& surroundings) : patience_(patience_of(surroundings)) {
  enter(surroundings);
  thread_ = std::thread([this] { listen(); });
}

Member::~Member() {
  leave();
  shutdown(socket_.get(), SHUT_RDWR);
  thread_.join();
}

void Member::leave() {
  if (std::exchange(left_, true)) return;
  send({Kind::farewell, 0, ""});
  shutdown(socket_.get(), SHUT_WR);
  // What the hub still says is read until it closes: bytes left unread would make the system drop what we said last.
  std::unique_lock lock(state_);
  changed_.wait_for(lock, kLastWords, [this] { return closed_; });
}

void Member::enter(const Surroundings& surroundings) {
  const Clock::time_point deadline = Clock::now() + patience_;
  while (!knock(surroundings, deadline)) {
    if (Clock::now() > deadline) {
      throw Error(Fault::training, fmt::format("rank 0 did not come within {:g} s: nothing answers at {} port {}",
                                               surroundings.timeout, surroundings.address, surroundings.port));
    }
    std::this_thread::sleep_for(kBetweenKnocks);
  }
}

bool Member::knock(const Surroundings& surroundings, Clock::time_point deadline) {
  socket_ = connect_to(surroundings.address, surroundings.port);
  inbox_ = {};
  if (!socket_.open()) return false;
  const std::optional<Message> greeting = next_message(std::min(deadline, Clock::now() + kGreeting));
  if (!greeting) return false;
  const std::vector<std::string> parts = unpack(greeting->body);
  if (greeting->kind != Kind::greeting || parts.size() != 2 || parts[0] != kProtocol) {
    throw Error(Fault::usage, fmt::format("what answers at {} port {} is no rank 0 of this version of lipschitzlr",
                                          surroundings.address, surroundings.port));
  }
  send_message(socket_, {Kind::hello, 0,
                         pack({kProtocol, std::to_string(surroundings.rank), std::to_string(surroundings.size),
                               proof_of(parts[1], surroundings.token)})});
  const std::optional<Message> reply = next_message(Clock::now() + patience_ + kExtra);
  if (!reply) return false;
  if (reply->kind == Kind::refusal) throw error_of(*reply);
  return reply->kind == Kind::welcome;
}

std::optional<Message> Member::next_message(Clock::time_point deadline) {
  while (true) {
    if (std::optional<Message> message = inbox_.next()) return message;
    const auto rest = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
    pollfd watched{socket_.get(), POLLIN, 0};
    if (rest <= 0) return std::nullopt;
    const int ready = poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(rest, 1000)));
    if (ready > 0 && watched.revents != 0 && !inbox_.receive(socket_)) return std::nullopt;
  }
}

void Member::listen() {
  bool open = true;
  while (open) {
    while (const std::optional<Message> message = inbox_.next()) note(*message);
    open = inbox_.receive(socket_);
  }
  while (const std::optional<Message> message = inbox_.next()) note(*message);
  const std::lock_guard lock(state_);
  closed_ = true;
  if (!verdict_)
    verdict_ = Error(Fault::training, "rank 0 was lost or has ended, and with it what keeps the processes together");
  changed_.notify_all();
}

void Member::note(const Message& message) {
  if (message.kind == Kind::probe) return send({Kind::progress, 0, std::to_string(progress_.load())});
  const std::lock_guard lock(state_);
  if (message.kind == Kind::answer) answers_[message.number] = message.body;
  if (message.kind == Kind::refusal && !verdict_) verdict_ = error_of(message);
  changed_.notify_all();
}

void Member::send(const Message& message) {
  const std::lock_guard lock(sending_);
  send_message(socket_, message);  // a hub that is gone shows when we listen
}

std::string Member::ask(Kind kind, const std::string& body) {
  std::unique_lock lock(state_);
  const std::uint32_t number = ++questions_;
  lock.unlock();
  send({kind, number, body});
  lock.lock();
  changed_.wait_for(lock, patience_, [&] { return answers_.contains(number) || verdict_; });
  if (!answers_.contains(number)) throw verdict_.value_or(unreachable("it does not answer"));
  std::string answer = std::move(answers_[number]);
  answers_.erase(number);
  return answer;
}

void Member::explain(const std::string& reason) {
  send({Kind::trouble, 0, ""});
  std::unique_lock lock(state_);
  changed_.wait_for(lock, kAnswer, [&] { return verdict_.has_value(); });
  throw verdict_.value_or(unreachable(reason));
}

}  // namespace lipschitzlr::dist
