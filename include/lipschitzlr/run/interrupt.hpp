#pragma once
// Ctrl-C and SIGTERM as a question a run asks at a good moment, instead of an end at a bad one. While an object lives,
// the first signal is only noted; a second one ends the process as usual.

namespace lipschitzlr::run {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;
};

}  // namespace lipschitzlr::run
