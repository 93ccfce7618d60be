#include "dist/rendezvous_server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "lipschitzlr/base/sha256.hpp"

namespace lipschitzlr::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick(100);
constexpr milliseconds kBeforeBlame(300);      // the end of a process reaches us a little later than its neighbours
constexpr milliseconds kProbeTimeout(3000);    // for answers to a probe
constexpr milliseconds kClosingTimeout(2000);  // for the others to read the verdict
constexpr milliseconds kJoinTimeout(5000);     // to prove that the token is known
constexpr std::ptrdiff_t kMostUnauthenticated = 256;

// Whoever reaches the port may join when there is no token: on other addresses than loopback that is everybody.
Socket listen_safely(const WorldEnv& world) {
  if (world.token.empty() && !is_loopback(world.address)) {
    throw Error(Fault::usage,
                fmt::format("MASTER_ADDR: other machines reach {}: set {} to the same text in all processes",
                            world.address, kTokenVariable));
  }
  return listen_at(world.address, world.port);
}

// "rank 2", "ranks 1, 3"
std::string named(const std::vector<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

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

RendezvousServer::RendezvousServer(const WorldEnv& world)
    : world_(world),
      listener_(listen_safely(world)),
      presence_(static_cast<std::size_t>(world.size), Presence::absent) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(Fault::training, "there are no more file descriptors for this process");
  }
  wake_reader_ = Socket(ends[0]);
  wake_writer_ = Socket(ends[1]);
  thread_ = std::thread([this] { run(); });
}

RendezvousServer::~RendezvousServer() {
  shutdown(wake_writer_.get(), SHUT_RDWR);
  thread_.join();
}

void RendezvousServer::run() {
  const auto others_have_left = [this] {
    return std::none_of(clients_.begin(), clients_.end(), [](const auto& client) { return client->rank > 0; });
  };
  while (true) {
    wait_for_events();
    remove_closed();
    check_deadlines();
    if (!closing_) continue;
    // A group that ended as planned needs no message; should somebody still wait for rank 0, this says why.
    if (!verdict_) return end_group(Fault::training, "rank 0 ended before the others; see its own message");
    if (others_have_left() || Clock::now() - *closing_ > kClosingTimeout) return;
  }
}

void RendezvousServer::wait_for_events() {
  std::vector<pollfd> watched = {{listener_.get(), POLLIN, 0}, {closing_ ? -1 : wake_reader_.get(), POLLIN, 0}};
  for (const auto& client : clients_) watched.push_back({client->socket.get(), POLLIN, 0});
  // While no deadline runs only an event makes work.
  const bool timed = !complete_ || probed_ || closing_ || unauthenticated() > 0;
  if (poll(watched.data(), watched.size(), timed ? static_cast<int>(kTick.count()) : -1) <= 0) return;
  for (std::size_t i = 2; i < watched.size(); ++i) {
    if (watched[i].revents != 0) serve(*clients_[i - 2]);
  }
  if (watched[1].revents != 0) closing_ = Clock::now();
  if (watched[0].revents != 0) accept_connection();
}

void RendezvousServer::accept_connection() {
  auto client = std::make_unique<Connection>();
  client->socket = Socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client->socket.open() || unauthenticated() >= kMostUnauthenticated) return;
  const timeval timeout{2, 0};  // one who does not read must not block all
  setsockopt(client->socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  client->nonce = random_text();
  client->since = Clock::now();
  send_message(client->socket, {Kind::challenge, 0, pack({kProtocol, client->nonce})});
  clients_.push_back(std::move(client));
}

void RendezvousServer::serve(Connection& client) {
  if (!client.inbox.receive(client.socket, client.rank < 0 ? Inbox::kLongestUntrusted : Inbox::kLongest)) {
    client.closed = true;
  }
  try {
    while (const std::optional<Message> message = client.inbox.next()) handle(client, *message);
  } catch (const std::logic_error&) {
    client.closed = true;  // not a number where one must be
  }
}

void RendezvousServer::handle(Connection& client, const Message& message) {
  if (client.rank < 0) {
    message.kind == Kind::join ? admit(client, message) : void(client.closed = true);
    return;
  }
  switch (message.kind) {
    case Kind::failure:
      if (!verdict_ && !probed_) probe_all();
      break;
    case Kind::progress:
      client.answered = true;
      client.progress = std::stoull("0" + message.body);
      break;
    case Kind::leave:
      presence_[static_cast<std::size_t>(client.rank)] = Presence::left;
      client.closed = true;
      break;
    default:
      store(client, message);
  }
}

void RendezvousServer::admit(Connection& client, const Message& request) {
  const std::vector<std::string> parts = unpack(request.body);  // protocol, rank, size, proof
  if (parts.size() != 4 || parts[0] != kProtocol || parts[3] != proof_of(client.nonce, world_.token)) {
    const bool ours = parts.size() == 4 && parts[0] == kProtocol;
    refusals_.insert(ours ? "one process had another token" : "one process was of another version");
    return refuse(client, Fault::usage,
                  ours ? fmt::format("the processes at {} port {} have another token; start all with the same {}",
                                     world_.address, world_.port, kTokenVariable)
                       : "rank 0 is of another version of lipschitzlr");
  }
  const int rank = std::stoi(parts[1]), size = std::stoi(parts[2]);
  if (size != world_.size) {
    const std::string sentence =
        fmt::format("rank {} was started for {} processes, rank 0 for {}: all must have the same number (WORLD_SIZE)",
                    rank, size, world_.size);
    // A group that is complete needs nobody: whoever comes now has the wrong address.
    return complete_ || verdict_ ? refuse(client, Fault::usage, sentence) : end_group(Fault::usage, sentence);
  }
  Presence& presence = presence_.at(static_cast<std::size_t>(rank));
  if (presence != Presence::absent) {
    return refuse(client, Fault::usage, fmt::format("there is already a process with rank {}", rank));
  }
  presence = Presence::here;
  client.rank = rank;
  if (verdict_) send_message(client.socket, *verdict_);  // too late
  if (verdict_ || !ranks_that_are(Presence::absent).empty()) return;
  complete_ = true;
  for (const auto& other : clients_) {
    if (other->rank >= 0) send_message(other->socket, {Kind::welcome, 0, ""});
  }
}

void RendezvousServer::refuse(Connection& client, Fault fault, const std::string& sentence) {
  send_message(client.socket, {Kind::refusal, 0, pack({std::to_string(static_cast<int>(fault)), sentence})});
  client.closed = true;
}

void RendezvousServer::answer(const Connection& client, const Message& request, std::string body) {
  send_message(client.socket, {Kind::answer, request.number, std::move(body)});
}

void RendezvousServer::store(Connection& client, const Message& request) {
  const std::vector<std::string> parts = unpack(request.body);
  if (request.kind == Kind::count) return answer(client, request, std::to_string(values_.size()));
  if (parts.empty()) return;
  const auto found = values_.find(parts[0]);
  if (request.kind == Kind::set && parts.size() == 2) {
    values_[parts[0]] = parts[1];
    answer(client, request, "");
  } else if (request.kind == Kind::get) {
    answer(client, request, found == values_.end() ? "0" : "1" + found->second);
  } else if (request.kind == Kind::add && parts.size() == 2) {
    const long long before = found == values_.end() ? 0 : std::stoll(found->second);
    long long sum = 0;
    if (__builtin_add_overflow(before, std::stoll(parts[1]), &sum)) throw std::out_of_range("the sum");
    values_[parts[0]] = std::to_string(sum);
    answer(client, request, values_[parts[0]]);
  } else if (request.kind == Kind::remove) {
    answer(client, request, std::to_string(values_.erase(parts[0])));
  }
}

void RendezvousServer::remove_closed() {
  for (const auto& client : clients_) {
    if (!client->closed || client->rank < 0) continue;
    Presence& presence = presence_[static_cast<std::size_t>(client->rank)];
    if (presence != Presence::here) continue;
    // Before all have joined, another process may still come in its place.
    presence = complete_ ? Presence::lost : Presence::absent;
    if (complete_) {
      end_group(Fault::training,
                fmt::format("rank {} was lost: its process was killed, or its machine can't be reached", client->rank));
    }
  }
  std::erase_if(clients_, [](const auto& client) { return client->closed; });
}

void RendezvousServer::check_deadlines() {
  const Clock::time_point now = Clock::now();
  for (const auto& client : clients_) client->closed |= client->rank < 0 && now - client->since > kJoinTimeout;
  if (!complete_ && !verdict_ && now - start_ > std::chrono::duration<double>(world_.timeout)) {
    std::string sentence =
        fmt::format("{} did not connect within {:g} s", named(ranks_that_are(Presence::absent)), world_.timeout);
    for (const std::string& refusal : refusals_) sentence += "; " + refusal;
    end_group(Fault::training, sentence);
  }
  if (!probed_ || verdict_ || now - *probed_ < kBeforeBlame) return;
  const bool all_answered = std::all_of(clients_.begin(), clients_.end(),
                                        [](const auto& client) { return client->rank < 0 || client->answered; });
  if (all_answered || now - *probed_ > kProbeTimeout) blame();
}

void RendezvousServer::probe_all() {
  probed_ = Clock::now();
  for (const auto& client : clients_) {
    client->answered = false;
    if (client->rank >= 0) send_message(client->socket, {Kind::probe, 0, ""});
  }
}

void RendezvousServer::blame() {
  const std::vector<int> left = ranks_that_are(Presence::left);
  std::vector<int> silent, behind;
  std::uint64_t farthest = 0;
  for (const auto& client : clients_) farthest = std::max(farthest, client->progress);
  for (const auto& client : clients_) {
    if (client->rank < 0) continue;
    if (!client->answered) silent.push_back(client->rank);
    if (client->answered && client->progress < farthest) behind.push_back(client->rank);
  }
  std::string sentence = "the connection between two processes broke, though all of them are running";
  if (!silent.empty()) {
    sentence = fmt::format("{} hangs or can't be reached: no answer", named(silent));
  } else if (!left.empty()) {
    sentence = fmt::format("{} ended before the others; see its own message", named(left));
  } else if (!behind.empty()) {
    sentence = fmt::format("{} kept the others waiting for more than {:g} s", named(behind), world_.timeout);
  }
  end_group(Fault::training, sentence);
}

void RendezvousServer::end_group(Fault fault, const std::string& sentence) {
  if (verdict_) return;
  verdict_ = {Kind::refusal, 0, pack({std::to_string(static_cast<int>(fault)), sentence})};
  // Also to those without a rank: among them is the one that was started for another number of processes.
  for (const auto& client : clients_) {
    if (!client->closed) send_message(client->socket, *verdict_);
  }
}

std::ptrdiff_t RendezvousServer::unauthenticated() const {
  return std::count_if(clients_.begin(), clients_.end(), [](const auto& client) { return client->rank < 0; });
}

std::vector<int> RendezvousServer::ranks_that_are(Presence presence) const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < presence_.size(); ++rank) {
    if (presence_[rank] == presence) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace lipschitzlr::dist
