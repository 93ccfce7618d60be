#pragma once
// A fixed team of threads that runs numbered tasks. What a task computes may depend on its number only, never on the
// thread that runs it: with fixed blocks and an ordered reduction by the caller, the bits are the same for any team.

#include <cstddef>
#include <functional>
#include <memory>

namespace lipschitzlr {

class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads = 0);  // 0: as many as the machine has cores; fewer when the
                                              // system has no more to give
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const;

  // Runs task(0) ... task(tasks-1), each once, in any order, on the team and the calling thread; returns when all are
  // done. The first exception a task throws is thrown again here. One task, or a team of one, runs in place.
  // Not to be called from a task, nor by two threads at once.
  void run(std::size_t tasks, const std::function<void(std::size_t)>& task);

 private:
  struct Communicator;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace lipschitzlr
