#include "lipschitzlr/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lipschitzlr {
namespace {

constexpr std::chrono::microseconds kLook{500};

}  // namespace

// A round is a number of tasks left to claim; claiming counts it down. The caller waits for the tasks that were
// claimed, not for the threads: one that wakes up late finds nothing left and costs nothing.
struct ThreadPool::Workers {
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<std::size_t> unclaimed{0};
  std::atomic<std::size_t> unfinished{0};
  // Both stay as they are while a task is claimed and not finished, so whoever has claimed one may read them.
  std::size_t tasks = 0;
  const std::function<void(std::size_t)>* task = nullptr;
  std::exception_ptr failure;
  bool closing = false;
  std::vector<std::thread> threads;

  void work() {
    std::size_t left = unclaimed.load(std::memory_order_acquire);
    while (left > 0) {
      if (!unclaimed.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        continue;
      }
      std::size_t finished = 1;
      try {
        (*task)(tasks - left);
      } catch (...) {
        finished += unclaimed.exchange(0);
        std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
      }
      unfinished.fetch_sub(finished, std::memory_order_release);
      left = unclaimed.load(std::memory_order_acquire);
    }
  }

  void serve() {
    for (;;) {
      // Steps of a solver follow one another within microseconds: look a while before sleeping. By the clock, because
      // on a busy machine one yield may take milliseconds.
      const auto until = std::chrono::steady_clock::now() + kLook;
      while (unclaimed.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
      }
      if (unclaimed.load(std::memory_order_acquire) == 0) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return unclaimed.load() != 0 || closing; });
        if (closing) return;
      }
      work();
    }
  }
};

ThreadPool::ThreadPool(unsigned threads) : workers_(std::make_unique<Workers>()) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  try {
    for (unsigned i = 1; i < threads; ++i) {
      workers_->threads.emplace_back([workers = workers_.get()] { workers->serve(); });
    }
  } catch (const std::system_error&) {
    // The system has no more threads to give; results do not depend on their number.
  }
}

ThreadPool::~ThreadPool() {
  {
    std::scoped_lock lock(workers_->mutex);
    workers_->closing = true;
  }
  workers_->wake.notify_all();
  for (auto& thread : workers_->threads) thread.join();
}

unsigned ThreadPool::size() const { return static_cast<unsigned>(workers_->threads.size()) + 1; }

void ThreadPool::run(std::size_t tasks, const std::function<void(std::size_t)>& task) {
  if (tasks <= 1 || workers_->threads.empty()) {
    for (std::size_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  Workers& workers = *workers_;
  workers.task = &task;
  workers.tasks = tasks;
  workers.failure = nullptr;
  workers.unfinished = tasks;
  {
    std::scoped_lock lock(workers.mutex);
    workers.unclaimed.store(tasks, std::memory_order_release);
  }
  workers.wake.notify_all();
  workers.work();
  while (workers.unfinished.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  if (workers.failure) std::rethrow_exception(workers.failure);
}

}  // namespace lipschitzlr
