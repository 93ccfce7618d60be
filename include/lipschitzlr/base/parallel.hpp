#pragma once
// A fixed number of threads that run numbered tasks. What a task computes may depend on its number only, never on the
// thread that runs it: with fixed blocks and an ordered reduction by the caller, the bits are the same for any number.

#include <cstddef>
#include <functional>
#include <memory>

namespace lipschitzlr {

class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads = 0);  // 0: one per core; fewer when the system has no more
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const;

  // Runs task(0) ... task(tasks-1), each once, in any order, on these threads and the calling one; returns when all
  // are done. The first exception a task throws is thrown again here. One task, or one thread, runs in place.
  // Not to be called from a task, nor by two threads at once.
  void run(std::size_t tasks, const std::function<void(std::size_t)>& task);

 private:
  struct Workers;
  std::unique_ptr<Workers> workers_;
};

}  // namespace lipschitzlr
