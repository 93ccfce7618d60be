#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <future>
#include <sstream>

#include "dist/rendezvous_client.hpp"
#include "dist/rendezvous_server.hpp"

namespace lipschitzlr::dist {
namespace {

// A port of loopback on which nobody listens, known by having listened there.
int free_port() {
  const Socket listener = listen_at("127.0.0.1", 0);
  sockaddr_in address{};
  socklen_t length = sizeof address;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

WorldEnv world(int rank, int size, int port, double timeout = 60) {
  WorldEnv made;
  made.rank = rank;
  made.size = size;
  made.port = port;
  made.token = "the same";
  made.timeout = timeout;
  return made;
}

using Joining = std::future<std::unique_ptr<RendezvousClient>>;

Joining join(const WorldEnv& env) {
  return std::async(std::launch::async, [env] { return std::make_unique<RendezvousClient>(env); });
}

template <class Call>
std::string complaint(const Call& call, Fault fault) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return "nothing was wrong";
}

std::string complaint(Joining joining, Fault fault) {
  return complaint([&] { joining.get(); }, fault);
}

// All processes have joined.
struct World {
  explicit World(int size, double timeout = 60) : port(free_port()), server(world(0, size, port, timeout)) {
    std::vector<Joining> joining;
    for (int rank = 0; rank < size; ++rank) joining.push_back(join(world(rank, size, port, timeout)));
    for (Joining& one : joining) clients.push_back(one.get());
  }

  int port;
  RendezvousServer server;
  std::vector<std::unique_ptr<RendezvousClient>> clients;
};

TEST(Rendezvous, StoresKeysAndValues) {
  World all(3);
  all.clients[1]->request(Kind::set, pack({"key", std::string_view("a\0b", 3)}));
  EXPECT_EQ(all.clients[2]->request(Kind::get, pack({"key"})), std::string("1a\0b", 4));
  EXPECT_EQ(all.clients[2]->request(Kind::get, pack({"other"})), "0");
  EXPECT_EQ(all.clients[0]->request(Kind::add, pack({"sum", "4"})), "4");
  EXPECT_EQ(all.clients[1]->request(Kind::add, pack({"sum", "-1"})), "3");
  EXPECT_EQ(all.clients[1]->request(Kind::count, ""), "2");
  EXPECT_EQ(all.clients[1]->request(Kind::remove, pack({"key"})), "1");
  EXPECT_EQ(all.clients[1]->request(Kind::remove, pack({"key"})), "0");
}

TEST(Rendezvous, WaitsForALateProcess) {
  const int port = free_port();
  Joining early = join(world(1, 3, port));
  const RendezvousServer server(world(0, 3, port));
  Joining first = join(world(0, 3, port));
  EXPECT_EQ(early.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  Joining late = join(world(2, 3, port));
  EXPECT_TRUE(early.get() && first.get() && late.get());
}

TEST(Rendezvous, NamesRanksThatDidNotConnect) {
  const int port = free_port();
  const RendezvousServer server(world(0, 3, port, 3));
  EXPECT_EQ(complaint(join(world(0, 3, port, 3)), Fault::training), "ranks 1, 2 did not connect within 3 s");
}

TEST(Rendezvous, NoServerIsReported) {
  const int port = free_port();
  EXPECT_EQ(complaint(join(world(1, 2, port, 0.2)), Fault::training),
            "rank 0 could not be reached within 0.2 s: nothing answers at 127.0.0.1 port " + std::to_string(port));
}

TEST(Rendezvous, AServerThatSaysNothingIsReported) {
  const int port = free_port();
  const Socket listener = listen_at("127.0.0.1", port);
  EXPECT_EQ(complaint(join(world(1, 2, port, 0.2)), Fault::training),
            "rank 0 could not be reached within 0.2 s: nothing answers at 127.0.0.1 port " + std::to_string(port));
}

// What listens here admits a client as the server does, and is silent from then on.
TEST(Rendezvous, AServerThatStopsAnsweringIsReported) {
  const int port = free_port();
  const Socket listener = listen_at("127.0.0.1", port);
  Joining joining = join(world(1, 2, port, 3));
  const Socket caller(accept(listener.get(), nullptr, nullptr));
  send_message(caller, {Kind::challenge, 0, pack({kProtocol, "a number used once"})});
  send_message(caller, {Kind::welcome, 0, ""});
  const std::unique_ptr<RendezvousClient> client = joining.get();
  EXPECT_EQ(complaint([&] { client->request(Kind::count, ""); }, Fault::training),
            "rank 0 hangs or can't be reached: it does not answer");
}

TEST(Rendezvous, RefusesAnotherToken) {
  const int port = free_port();
  const RendezvousServer server(world(0, 2, port, 5));
  Joining first = join(world(0, 2, port, 5));
  for (const char* token : {"another", "", "the same "}) {
    WorldEnv stranger = world(1, 2, port);
    stranger.token = token;
    EXPECT_NE(complaint(join(stranger), Fault::usage).find("another token"), std::string::npos);
  }
  EXPECT_NE(
      complaint(std::move(first), Fault::training).find("rank 1 did not connect within 5 s; one process had another"),
      std::string::npos);
}

TEST(Rendezvous, ADifferentWorldSizeIsReportedToAll) {
  const int port = free_port();
  const RendezvousServer server(world(0, 3, port));
  Joining first = join(world(0, 3, port)), second = join(world(1, 4, port));
  const std::string sentence =
      "rank 1 was started for 4 processes, rank 0 for 3: all must have the same number (WORLD_SIZE)";
  EXPECT_EQ(complaint(std::move(first), Fault::usage), sentence);
  EXPECT_EQ(complaint(std::move(second), Fault::usage), sentence);
}

TEST(Rendezvous, RefusesADifferentWorldSizeAndContinuesWhenComplete) {
  World all(2);
  EXPECT_EQ(complaint(join(world(1, 3, all.port)), Fault::usage),
            "rank 1 was started for 3 processes, rank 0 for 2: all must have the same number (WORLD_SIZE)");
  EXPECT_EQ(all.clients[1]->request(Kind::count, ""), "0");
  all.clients[0].reset();
  EXPECT_EQ(complaint([&] { all.clients[1]->throw_blame("closed"); }, Fault::training),
            "rank 0 ended before the others; see its own message");
}

TEST(Rendezvous, AdmitsEachRankOnce) {
  World all(2);
  EXPECT_EQ(complaint(join(world(1, 2, all.port)), Fault::usage), "there is already a process with rank 1");
  EXPECT_EQ(all.clients[1]->request(Kind::count, ""), "0");
}

TEST(Rendezvous, NamesABusyPort) {
  const int port = free_port();
  const RendezvousServer server(world(0, 2, port));
  EXPECT_EQ(complaint([&] { RendezvousServer(world(0, 2, port)); }, Fault::usage),
            "port " + std::to_string(port) +
                " of 127.0.0.1 is busy: another program listens there; choose another MASTER_PORT");
}

TEST(Rendezvous, ListensAtItsOwnAddressOnly) {
  const int port = free_port();
  const RendezvousServer server(world(0, 2, port));
  std::string found;
  for (const char* file : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(file);
    for (std::string line, number, local; std::getline(lines, line);) {
      std::istringstream(line) >> number >> local;
      if (local.ends_with(fmt::format(":{:04X}", port))) found += local + " ";
    }
  }
  EXPECT_EQ(found, fmt::format("0100007F:{:04X} ", port));
}

TEST(Rendezvous, NamesAnAddressThatIsNotOfThisMachine) {
  WorldEnv elsewhere = world(0, 2, free_port());
  elsewhere.address = "192.0.2.1";  // kept free for documentation: nobody has it
  EXPECT_EQ(complaint([&] { RendezvousServer server(elsewhere); }, Fault::usage),
            "MASTER_ADDR: 192.0.2.1 is not an address of this machine, on which rank 0 runs");
  elsewhere.address = "no.such.host.invalid";
  EXPECT_NE(complaint([&] { RendezvousServer server(elsewhere); }, Fault::usage).find("no.such.host.invalid"),
            std::string::npos);
}

TEST(Rendezvous, OtherProgramsAreRecognized) {
  const int port = free_port();
  const Socket listener = listen_at("127.0.0.1", port);
  Joining joining = join(world(1, 2, port));
  const Socket caller(accept(listener.get(), nullptr, nullptr));
  const std::string other = std::string("\0\0\0\1", 4) + "HTTP/1.1 400 Bad Request\r\n";
  send(caller.get(), other.data(), other.size(), 0);
  EXPECT_NE(complaint(std::move(joining), Fault::usage).find("is not rank 0"), std::string::npos);
}

TEST(Rendezvous, SurvivesInvalidMessages) {
  World all(2);
  for (const std::string& text : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(5000, '\0'),
                                  std::string(5000, '\xff'), std::string("\0\0\0\3\2\0\0\0\0abc", 12)}) {
    const Socket stranger = connect_to("127.0.0.1", all.port);
    send(stranger.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  for (const char* number : {"", "x", "99999999999999999999"}) {
    const Socket stranger = connect_to("127.0.0.1", all.port);
    Inbox inbox;
    ASSERT_TRUE(inbox.receive(stranger));
    const std::string nonce = unpack(inbox.next().value().body).at(1);
    send_message(stranger, {Kind::join, 0, pack({kProtocol, number, "2", proof_of(nonce, "the same")})});
    while (inbox.receive(stranger)) {
    }
  }
  EXPECT_EQ(all.clients[1]->request(Kind::count, ""), "0");
}

TEST(Rendezvous, NeedsATokenWhereOtherMachinesReachIt) {
  WorldEnv open = world(0, 2, free_port());
  open.token = "";
  for (const char* address : {"0.0.0.0", "192.0.2.1"}) {
    open.address = address;
    EXPECT_EQ(complaint([&] { RendezvousServer server(open); }, Fault::usage),
              std::string("MASTER_ADDR: other machines reach ") + address +
                  ": set LIPSCHITZLR_TOKEN to the same text in all processes");
  }
  for (const char* address : {"127.0.0.1", "127.1.2.3", "localhost"}) {
    open.address = address;
    EXPECT_NO_THROW(RendezvousServer server(open));
  }
}

// Before it has proved that it knows the token, nobody makes the server remember much.
TEST(Rendezvous, IsNotFilledByWhoDoesNotKnowTheToken) {
  const int port = free_port();
  const RendezvousServer server(world(0, 2, port, 10));
  Joining first = join(world(0, 2, port, 10));
  for (int tries = 0; tries < 50; ++tries) {
    const Socket stranger = connect_to("127.0.0.1", port);
    Inbox inbox;
    ASSERT_TRUE(inbox.receive(stranger));
    send_message(stranger, {Kind::join, 0, pack({kProtocol, "1", "2", "no proof"})});
    while (inbox.receive(stranger)) {
    }
  }
  EXPECT_EQ(complaint(std::move(first), Fault::training),
            "rank 1 did not connect within 10 s; one process had another token");
}

TEST(Rendezvous, ClosesOnALongMessageFromWhoDoesNotKnowTheToken) {
  const int port = free_port();
  const RendezvousServer server(world(0, 2, port));
  const Socket stranger = connect_to("127.0.0.1", port);
  Inbox inbox;
  ASSERT_TRUE(inbox.receive(stranger));
  const std::string beginning("\0\1\0\0\2\0\0\0\0", 9);  // of a message of 64 KiB
  send(stranger.get(), beginning.data(), beginning.size(), MSG_NOSIGNAL);
  const auto start = Clock::now();
  while (inbox.receive(stranger)) {
  }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(30));  // well before the time to join, 60 s, is over
}

TEST(Rendezvous, DoesNotShowTheToken) {
  EXPECT_EQ(proof_of("nonce", "secret").find("secret"), std::string::npos);
  EXPECT_NE(proof_of("nonce", "secret"), proof_of("another nonce", "secret"));
  EXPECT_NE(proof_of("nonce", "secret"), proof_of("nonce", "secreu"));
}

TEST(Rendezvous, BlamesTheRankThatIsBehind) {
  World all(3, 7);
  for (const int rank : {0, 2}) all.clients[static_cast<std::size_t>(rank)]->advance();
  EXPECT_EQ(complaint([&] { all.clients[2]->throw_blame("time-out"); }, Fault::training),
            "rank 1 kept the others waiting for more than 7 s");
  EXPECT_EQ(complaint([&] { all.clients[0]->throw_blame("time-out"); }, Fault::training),
            "rank 1 kept the others waiting for more than 7 s");
}

TEST(Rendezvous, BlamesTheRankThatEndedEarly) {
  World all(3);
  all.clients[2].reset();
  EXPECT_EQ(complaint([&] { all.clients[0]->throw_blame("closed"); }, Fault::training),
            "rank 2 ended before the others; see its own message");
}

TEST(Rendezvous, BlamesTheRankThatLeftThoughItStillRuns) {
  World all(3);
  for (const int rank : {0, 1}) all.clients[static_cast<std::size_t>(rank)]->advance();
  all.clients[2]->leave();
  EXPECT_EQ(complaint([&] { all.clients[0]->throw_blame("closed"); }, Fault::training),
            "rank 2 ended before the others; see its own message");
}

}  // namespace
}  // namespace lipschitzlr::dist
