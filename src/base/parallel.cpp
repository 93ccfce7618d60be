#include "lipschitzlr/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lipschitzlr {

struct ThreadPool::Team {
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<std::uint64_t> round{0};
  std::atomic<std::size_t> next{0};
  std::atomic<unsigned> busy{0};
  std::size_t tasks = 0;
  const std::function<void(std::size_t)>* task = nullptr;
  std::exception_ptr failure;
  bool closing = false;
  std::vector<std::thread> threads;

  void work() {
    try {
      for (std::size_t i = next.fetch_add(1); i < tasks; i = next.fetch_add(1)) (*task)(i);
    } catch (...) {
      next = tasks;
      std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  }

  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      // Steps of a solver follow one another within microseconds: look a while before sleeping.
      for (int spin = 0; spin < 2000 && round.load(std::memory_order_acquire) == seen; ++spin) {
        std::this_thread::yield();
      }
      if (round.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return round.load() != seen || closing; });
      }
      if (round.load() == seen) return;
      seen = round.load();
      work();
      busy.fetch_sub(1, std::memory_order_release);
    }
  }
};

ThreadPool::ThreadPool(unsigned threads) : team_(std::make_unique<Team>()) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 1; i < threads; ++i) team_->threads.emplace_back([team = team_.get()] { team->serve(); });
}

ThreadPool::~ThreadPool() {
  {
    std::scoped_lock lock(team_->mutex);
    team_->closing = true;
  }
  team_->wake.notify_all();
  for (auto& thread : team_->threads) thread.join();
}

unsigned ThreadPool::size() const { return static_cast<unsigned>(team_->threads.size()) + 1; }

void ThreadPool::run(std::size_t tasks, const std::function<void(std::size_t)>& task) {
  if (tasks <= 1 || team_->threads.empty()) {
    for (std::size_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  Team& team = *team_;
  team.task = &task;
  team.tasks = tasks;
  team.failure = nullptr;
  team.next = 0;
  team.busy = static_cast<unsigned>(team.threads.size());
  {
    std::scoped_lock lock(team.mutex);
    team.round.fetch_add(1, std::memory_order_release);
  }
  team.wake.notify_all();
  team.work();
  while (team.busy.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  if (team.failure) std::rethrow_exception(team.failure);
}

}  // namespace lipschitzlr
