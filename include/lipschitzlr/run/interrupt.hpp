#pragma once
// Ctrl-C, SIGTERM and SIGHUP (the terminal was closed) as a flag that a run checks when it can save its work. While an
// object lives, the first signal only sets the flag; a second one ends the process as usual.

namespace lipschitzlr::run {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;

 private:
  bool ignores_hangup_;
};

}  // namespace lipschitzlr::run
