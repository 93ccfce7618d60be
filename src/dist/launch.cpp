#include "lipschitzlr/dist/launch.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "base/subprocess.hpp"
#include "base/terminal.hpp"
#include "dist/rendezvous_server.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/world_env.hpp"

namespace lipschitzlr::dist {
namespace {

constexpr int kInterrupted = static_cast<int>(Fault::interrupted);

// While it lives, signals wait to be read instead of being delivered.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, &before_);
    queue_ = Socket(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  ~Signals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return queue_.get(); }
  int next() const {  // 0: none
    signalfd_siginfo info;
    return read(queue_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_;
  Socket queue_;
};

int find_free_port(const std::string& address) {
  const Socket listener = listen_at(address, 0);
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&own), &length);
  // The port is at the same place in both kinds of addresses.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port);
}

// A process of the launch. Rank 0 prints as if it were alone; lines of the others are passed on with their rank before.
class Child : public Subprocess {
 public:
  Child(const LaunchOptions& options, const Variables& variables, int rank)
      : Subprocess(words_of(options), rank == 0 ? Output::inherit : Output::capture_errors, variables),
        prefix_(fmt::format("[{}] ", rank)) {}

  // What is there, in whole lines.
  void pass_on() {
    line_ += read_output();
    if (output() < 0 && !line_.empty()) line_ += '\n';
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      print_stderr("{}{}", prefix_, line_.substr(0, end + 1));
      line_.erase(0, end + 1);
    }
  }

 private:
  static std::vector<std::string> words_of(const LaunchOptions& options) {
    std::vector<std::string> words = {options.program};
    words.insert(words.end(), options.words.begin(), options.words.end());
    return words;
  }

  std::string prefix_, line_;
};

class Launch {
 public:
  explicit Launch(const LaunchOptions& options);
  int run();

 private:
  void wait();
  void read_signals();
  void check_children();
  void end_others();
  bool all_ended() const;
  int first_failure() const;  // rank; -1: none
  int outcome() const;

  using Seconds = std::chrono::duration<double>;

  const Seconds timeout_, settle_, grace_;
  Signals signals_;
  std::vector<std::unique_ptr<Child>> children_;
  bool interrupted_ = false;
  std::optional<Clock::time_point> failed_;
  std::optional<std::chrono::time_point<Clock, Seconds>> kill_at_;
  int blamed_ = -1;
};

Launch::Launch(const LaunchOptions& options)
    : timeout_(options.timeout), settle_(options.settle), grace_(options.grace) {
  const int port = options.port != 0 ? options.port : find_free_port(options.address);
  const std::string size = std::to_string(options.processes), token = random_text();
  for (int rank = 0; rank < options.processes; ++rank) {
    const std::string name = std::to_string(rank);
    // Empty: removed, because a torchrun around us would have meant its own store.
    const Subprocess::Variables variables = {{"RANK", name},
                                             {"WORLD_SIZE", size},
                                             {"LOCAL_RANK", name},
                                             {"LOCAL_WORLD_SIZE", size},
                                             {"MASTER_ADDR", options.address},
                                             {"MASTER_PORT", std::to_string(port)},
                                             {kTokenVariable, token},
                                             {kTimeoutVariable, fmt::format("{}", options.timeout)},
                                             {"TORCHELASTIC_USE_AGENT_STORE", ""}};
    children_.push_back(std::make_unique<Child>(options, variables, rank));
  }
}

int Launch::run() {
  while (!all_ended()) {
    wait();
    read_signals();
    check_children();
    end_others();
  }
  return outcome();
}

void Launch::wait() {
  std::vector<pollfd> watched = {{signals_.descriptor(), POLLIN, 0}};
  for (const auto& child : children_) watched.push_back({child->output(), POLLIN, 0});
  constexpr int kTick = 100;
  if (poll(watched.data(), watched.size(), failed_ ? kTick : -1) <= 0) return;
  for (std::size_t i = 1; i < watched.size(); ++i) {
    if (watched[i].revents != 0) children_[i - 1]->pass_on();
  }
}

void Launch::read_signals() {
  while (const int number = signals_.next()) {
    if (number == SIGCHLD) continue;
    interrupted_ = true;
    for (const auto& child : children_) child->signal(number == SIGINT ? SIGINT : SIGTERM);
  }
}

void Launch::check_children() {
  for (const auto& child : children_) child->poll();
  if (!failed_ && first_failure() >= 0) failed_ = Clock::now();
}

// One failure makes others fail: one that was killed, or failed for a reason of its own, comes before those.
int Launch::first_failure() const {
  int found = -1, weight = 0;
  for (std::size_t rank = 0; rank < children_.size(); ++rank) {
    const Child& child = *children_[rank];
    if (child.running() || child.exit_code() == 0) continue;
    const int own = child.killed() ? 3 : child.exit_code() != static_cast<int>(Fault::training) ? 2 : 1;
    if (own > weight) weight = own, found = static_cast<int>(rank);
  }
  return found;
}

void Launch::end_others() {
  if (!failed_ || all_ended()) return;
  const Clock::time_point now = Clock::now();
  if (!kill_at_ && interrupted_) {
    // Every process saves its work and ends by itself. Only the timeout shows that one hangs.
    kill_at_ = *failed_ + timeout_ + grace_;
  } else if (!kill_at_ && now - *failed_ >= settle_) {
    blamed_ = first_failure();
    for (const auto& child : children_) child->signal(SIGTERM);
    kill_at_ = now + grace_;
  }
  if (!kill_at_ || now < *kill_at_) return;
  for (const auto& child : children_) child->signal(SIGKILL);
}

bool Launch::all_ended() const {
  return std::none_of(children_.begin(), children_.end(),
                      [](const auto& child) { return child->running() || child->output() >= 0; });
}

int Launch::outcome() const {
  const int rank = blamed_ >= 0 ? blamed_ : first_failure();
  if (rank < 0) return 0;
  const Child& child = *children_[static_cast<std::size_t>(rank)];
  if (interrupted_ && (child.killed() || child.exit_code() == kInterrupted)) return kInterrupted;
  if (child.killed()) {
    print_stderr("lipschitzlr: rank {} was killed by signal {} ({})\n", rank, child.exit_code() - 128,
                 strsignal(child.exit_code() - 128));
  } else {
    print_stderr("lipschitzlr: rank {} failed first, with exit code {}; its message is above\n", rank,
                 child.exit_code());
  }
  return child.exit_code();
}

}  // namespace

int launch(const LaunchOptions& options) { return Launch(options).run(); }

}  // namespace lipschitzlr::dist
