#include "lipschitzlr/run/interrupt.hpp"

#include <csignal>

namespace lipschitzlr::run {
namespace {

// A signal handler reaches nothing but a global: this one is the only one of the program.
volatile std::sig_atomic_t signal_seen = 0;

void note(int number) {
  signal_seen = 1;
  std::signal(number, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() : ignores_hangup_(std::signal(SIGHUP, note) == SIG_IGN) {
  signal_seen = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
  if (ignores_hangup_) std::signal(SIGHUP, SIG_IGN);  // as nohup wants it
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (!ignores_hangup_) std::signal(SIGHUP, SIG_DFL);
}

bool InterruptGuard::interrupted() const { return signal_seen != 0; }

}  // namespace lipschitzlr::run
