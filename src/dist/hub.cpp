#include "dist/hub.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "lipschitzlr/base/sha256.hpp"

namespace lipschitzlr::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick(100);
constexpr milliseconds kAtLeast(300);     // the end of a process reaches us a little later than its neighbours
constexpr milliseconds kPatience(3000);   // for answers to a probe
constexpr milliseconds kFarewell(2000);   // for the others to read the verdict
constexpr milliseconds kStrangers(5000);  // who has not proved anything by then must go
constexpr std::ptrdiff_t kMostStrangers = 256;

}  // namespace

std::string proof_of(const std::string& nonce, const std::string& token) {
  return sha256(pack({kProtocol, nonce, token}));
}

std::string random_text() {
  std::random_device device;
  std::string text;
  for (int i = 0; i < 4; ++i) text += fmt::format("{:08x}", static_cast<std::uint32_t>(device()));
  return text;
}

std::string named(const std::vector<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

Hub::Hub(const Surroundings& surroundings)
    : world_(surroundings),
      door_(listen_at(surroundings.address, surroundings.port)),
      presence_(static_cast<std::size_t>(surroundings.size), Presence::absent) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(Fault::training, "there are no more file descriptors for this process");
  }
  wake_reader_ = Socket(ends[0]);
  wake_writer_ = Socket(ends[1]);
  thread_ = std::thread([this] { run(); });
}

Hub::~Hub() {
  shutdown(wake_writer_.get(), SHUT_RDWR);
  thread_.join();
}

void Hub::run() {
  const auto others_left = [this] {
    return std::none_of(guests_.begin(), guests_.end(), [](const auto& guest) { return guest->rank > 0; });
  };
  while (true) {
    wait_for_events();
    remove_gone();
    look_at_clock();
    if (!closing_) continue;
    // A world that ended as planned needs no last words; should somebody still wait for rank 0, this tells why.
    if (!verdict_) return end_world(Fault::training, "rank 0 ended before the others; see its own message");
    if (others_left() || Clock::now() - *closing_ > kFarewell) return;
  }
}

void Hub::wait_for_events() {
  std::vector<pollfd> watched = {{door_.get(), POLLIN, 0}, {closing_ ? -1 : wake_reader_.get(), POLLIN, 0}};
  for (const auto& guest : guests_) watched.push_back({guest->socket.get(), POLLIN, 0});
  // While nothing is in doubt only an event makes work.
  const bool timed = !complete_ || doubt_ || closing_ || strangers() > 0;
  if (poll(watched.data(), watched.size(), timed ? static_cast<int>(kTick.count()) : -1) <= 0) return;
  for (std::size_t i = 2; i < watched.size(); ++i) {
    if (watched[i].revents != 0) serve(*guests_[i - 2]);
  }
  if (watched[1].revents != 0) closing_ = Clock::now();
  if (watched[0].revents != 0) accept_guest();
}

void Hub::accept_guest() {
  auto guest = std::make_unique<Guest>();
  guest->socket = Socket(accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!guest->socket.open() || strangers() >= kMostStrangers) return;
  const timeval patience{2, 0};  // one who does not read must not hold up all
  setsockopt(guest->socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  guest->nonce = random_text();
  guest->since = Clock::now();
  send_message(guest->socket, {Kind::greeting, 0, pack({kProtocol, guest->nonce})});
  guests_.push_back(std::move(guest));
}

void Hub::serve(Guest& guest) {
  if (!guest.inbox.receive(guest.socket)) guest.gone = true;
  try {
    while (const std::optional<Message> message = guest.inbox.next()) handle(guest, *message);
  } catch (const std::logic_error&) {
    guest.gone = true;  // a number that is none
  }
}

void Hub::handle(Guest& guest, const Message& message) {
  if (guest.rank < 0) {
    message.kind == Kind::hello ? admit(guest, message) : void(guest.gone = true);
    return;
  }
  switch (message.kind) {
    case Kind::trouble:
      if (!verdict_ && !doubt_) begin_doubt();
      break;
    case Kind::progress:
      guest.answered = true;
      guest.progress = std::stoull("0" + message.body);
      break;
    case Kind::farewell:
      presence_[static_cast<std::size_t>(guest.rank)] = Presence::left;
      guest.gone = true;
      break;
    default:
      keep(guest, message);
  }
}

void Hub::admit(Guest& guest, const Message& hello) {
  const std::vector<std::string> parts = unpack(hello.body);  // protocol, rank, size, proof
  if (parts.size() != 4 || parts[0] != kProtocol || parts[3] != proof_of(guest.nonce, world_.token)) {
    const bool ours = parts.size() == 4 && parts[0] == kProtocol;
    refusals_.push_back(ours ? "one process had another token" : "one process spoke another language");
    return refuse(guest, Fault::usage,
                  ours ? fmt::format("the processes at {} port {} have another token; start all with the same {}",
                                     world_.address, world_.port, kTokenVariable)
                       : "rank 0 is of another version of lipschitzlr");
  }
  const int rank = std::stoi(parts[1]), size = std::stoi(parts[2]);
  if (size != world_.size) {
    const std::string sentence =
        fmt::format("rank {} was started for {} processes, rank 0 for {}: all must have the same number (WORLD_SIZE)",
                    rank, size, world_.size);
    // A world that is at work needs nobody: whoever comes now strayed here.
    return complete_ || verdict_ ? refuse(guest, Fault::usage, sentence) : end_world(Fault::usage, sentence);
  }
  Presence& presence = presence_.at(static_cast<std::size_t>(rank));
  if (presence != Presence::absent) {
    return refuse(guest, Fault::usage, fmt::format("there is a process with rank {} already", rank));
  }
  presence = Presence::here;
  guest.rank = rank;
  if (verdict_) send_message(guest.socket, *verdict_);  // too late
  if (verdict_ || !ranks_that_are(Presence::absent).empty()) return;
  complete_ = true;
  for (const auto& other : guests_) {
    if (other->rank >= 0) send_message(other->socket, {Kind::welcome, 0, ""});
  }
}

void Hub::refuse(Guest& guest, Fault fault, const std::string& sentence) {
  send_message(guest.socket, {Kind::refusal, 0, pack({std::to_string(static_cast<int>(fault)), sentence})});
  guest.gone = true;
}

void Hub::answer(const Guest& guest, const Message& question, std::string body) {
  send_message(guest.socket, {Kind::answer, question.number, std::move(body)});
}

void Hub::keep(Guest& guest, const Message& message) {
  const std::vector<std::string> parts = unpack(message.body);
  if (message.kind == Kind::count) return answer(guest, message, std::to_string(values_.size()));
  if (parts.empty()) return;
  const auto found = values_.find(parts[0]);
  if (message.kind == Kind::set && parts.size() == 2) {
    values_[parts[0]] = parts[1];
    answer(guest, message, "");
  } else if (message.kind == Kind::look) {
    answer(guest, message, found == values_.end() ? "0" : "1" + found->second);
  } else if (message.kind == Kind::add && parts.size() == 2) {
    std::string& value = values_[parts[0]];
    value = std::to_string((value.empty() ? 0 : std::stoll(value)) + std::stoll(parts[1]));
    answer(guest, message, value);
  } else if (message.kind == Kind::drop) {
    answer(guest, message, std::to_string(values_.erase(parts[0])));
  }
}

void Hub::remove_gone() {
  for (const auto& guest : guests_) {
    if (!guest->gone || guest->rank < 0) continue;
    Presence& presence = presence_[static_cast<std::size_t>(guest->rank)];
    if (presence != Presence::here) continue;
    // Before all have come, another process may still come in its place.
    presence = complete_ ? Presence::lost : Presence::absent;
    if (complete_) {
      end_world(Fault::training,
                fmt::format("rank {} was lost: its process was killed, or its machine can't be reached", guest->rank));
    }
  }
  std::erase_if(guests_, [](const auto& guest) { return guest->gone; });
}

void Hub::look_at_clock() {
  const Clock::time_point now = Clock::now();
  for (const auto& guest : guests_) guest->gone |= guest->rank < 0 && now - guest->since > kStrangers;
  if (!complete_ && !verdict_ && now - start_ > std::chrono::duration<double>(world_.timeout)) {
    std::string sentence =
        fmt::format("{} did not come within {:g} s", named(ranks_that_are(Presence::absent)), world_.timeout);
    for (const std::string& refusal : refusals_) sentence += "; " + refusal;
    end_world(Fault::training, sentence);
  }
  if (!doubt_ || verdict_ || now - *doubt_ < kAtLeast) return;
  const bool all_answered =
      std::all_of(guests_.begin(), guests_.end(), [](const auto& guest) { return guest->rank < 0 || guest->answered; });
  if (all_answered || now - *doubt_ > kPatience) decide();
}

void Hub::begin_doubt() {
  doubt_ = Clock::now();
  for (const auto& guest : guests_) {
    guest->answered = false;
    if (guest->rank >= 0) send_message(guest->socket, {Kind::probe, 0, ""});
  }
}

void Hub::decide() {
  const std::vector<int> left = ranks_that_are(Presence::left);
  std::vector<int> silent, behind;
  std::uint64_t farthest = 0;
  for (const auto& guest : guests_) farthest = std::max(farthest, guest->progress);
  for (const auto& guest : guests_) {
    if (guest->rank < 0) continue;
    if (!guest->answered) silent.push_back(guest->rank);
    if (guest->answered && guest->progress < farthest) behind.push_back(guest->rank);
  }
  if (!silent.empty())
    return end_world(Fault::training, fmt::format("{} hangs or can't be reached: no answer", named(silent)));
  if (!left.empty()) {
    return end_world(Fault::training, fmt::format("{} ended before the others; see its own message", named(left)));
  }
  if (!behind.empty()) {
    return end_world(Fault::training,
                     fmt::format("{} kept the others waiting for more than {:g} s", named(behind), world_.timeout));
  }
  end_world(Fault::training, "the connection between two processes broke, though all of them are there");
}

void Hub::end_world(Fault fault, const std::string& sentence) {
  if (verdict_) return;
  verdict_ = {Kind::refusal, 0, pack({std::to_string(static_cast<int>(fault)), sentence})};
  // To who has not proved anything too: among them is the one whose world has another size.
  for (const auto& guest : guests_) {
    if (!guest->gone) send_message(guest->socket, *verdict_);
  }
}

std::ptrdiff_t Hub::strangers() const {
  return std::count_if(guests_.begin(), guests_.end(), [](const auto& guest) { return guest->rank < 0; });
}

std::vector<int> Hub::ranks_that_are(Presence presence) const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < presence_.size(); ++rank) {
    if (presence_[rank] == presence) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace lipschitzlr::dist
