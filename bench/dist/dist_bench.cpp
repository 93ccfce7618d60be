// One process of several that compare.py starts; rank 0 prints a line of JSON.
//   sum COUNT ROUNDS
//       the least and the median seconds of a sum of so many floats over all processes
//   train NETWORK BATCH STEPS THREADS
//       medians of a step of a training, of the work of its cores (which other programs disturb less), of what it waits
//       for the sums of gradients and of statistics; the bytes of both. BATCH is that of all processes together.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "lipschitzlr/base/memory.hpp"
#include "lipschitzlr/dist/connect.hpp"
#include "lipschitzlr/nn/process.hpp"
#include "lipschitzlr/nn/trainer.hpp"
#include "network/made_up_images.hpp"

namespace {

using namespace lipschitzlr;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Of all threads of this process.
double work_so_far() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Weights are float32 here, statistics float64: that distinguishes them.
struct Traffic {
  double seconds = 0;  // waited
  std::size_t bytes = 0, calls = 0;
};

// A communicator that measures its waits.
class TimedCommunicator : public Communicator {
 public:
  explicit TimedCommunicator(Communicator& communicator) : communicator_(communicator) {}
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  std::unique_ptr<Pending> start_sum(std::span<float> values) override { return watch(values, gradients); }
  std::unique_ptr<Pending> start_sum(std::span<double> values) override { return watch(values, statistics); }
  void maximum(std::span<double> values) override {
    const auto start = Clock::now();
    communicator_.maximum(values);
    count(statistics, values.size_bytes());
    statistics.seconds += seconds_since(start);
  }
  void broadcast(std::span<std::byte> bytes) override { communicator_.broadcast(bytes); }

  Traffic gradients, statistics;

 private:
  class Watched : public Pending {
   public:
    Watched(std::unique_ptr<Pending> pending, Traffic& traffic) : pending_(std::move(pending)), traffic_(traffic) {}
    void wait() override {
      const auto start = Clock::now();
      pending_->wait();
      traffic_.seconds += seconds_since(start);
    }

   private:
    std::unique_ptr<Pending> pending_;
    Traffic& traffic_;
  };

  static void count(Traffic& traffic, std::size_t bytes) {
    traffic.bytes += bytes;
    ++traffic.calls;
  }
  template <class Value>
  std::unique_ptr<Pending> watch(std::span<Value> values, Traffic& traffic) {
    count(traffic, values.size_bytes());
    return std::make_unique<Watched>(communicator_.start_sum(values), traffic);
  }

  Communicator& communicator_;
};

void sum(Communicator& communicator, std::size_t count, int rounds) {
  std::vector<float> values(count, 1.0F);
  std::vector<double> seconds;
  communicator.sum(std::span<float>(values));  // connections are warm, all are here
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    communicator.sum(std::span<float>(values));
    seconds.push_back(seconds_since(start));
  }
  if (!communicator.is_root()) return;
  fmt::print("{{\"least\": {:.9f}, \"median\": {:.9f}}}\n", *std::min_element(seconds.begin(), seconds.end()),
             median(seconds));
}

void train(Communicator& communicator, const Words& words) {
  nn::TrainerOptions options;
  options.network = words[1];
  options.batch = std::stol(words[2]);
  options.threads = static_cast<unsigned>(std::stoul(words[4]));
  // Labels that mean nothing can't be learnt: a large constant keeps the rate, and with it the weights, small.
  options.controller.l2 = 1e4;
  const data::ImageSet images = bench::made_up_images(words[1] == "mnist-cnn", options.batch * std::stol(words[3]));
  std::vector<Index> all(static_cast<std::size_t>(images.count()));
  std::iota(all.begin(), all.end(), Index{0});
  TimedCommunicator watched(communicator);
  nn::Trainer trainer(options, images, all, communicator.size() == 1 ? nullptr : &watched);
  std::vector<double> steps, work, gradients, statistics;
  auto start = Clock::now();
  double work_before = work_so_far();
  Traffic gradient, statistic;
  watched.gradients = watched.statistics = {};
  trainer.run_epoch([&](const nn::StepReport&) {
    steps.push_back(seconds_since(start));
    work.push_back(work_so_far() - work_before);
    gradients.push_back(watched.gradients.seconds);
    statistics.push_back(watched.statistics.seconds);
    gradient = watched.gradients;
    statistic = watched.statistics;
    watched.gradients = watched.statistics = {};
    start = Clock::now();
    work_before = work_so_far();
    return true;
  });
  if (!communicator.is_root()) return;
  fmt::print(
      "{{\"step\": {:.6f}, \"work\": {:.6f}, \"gradients\": {:.6f}, \"statistics\": {:.6f}, \"gradient_bytes\": {}, "
      "\"gradient_calls\": "
      "{}, \"statistics_bytes\": {}, \"statistics_calls\": {}}}\n",
      median(steps), median(work), median(gradients), median(statistics), gradient.bytes, gradient.calls,
      statistic.bytes, statistic.calls);
}

}  // namespace

int main(int count, char** arguments) {
  lipschitzlr::keep_memory();  // as lipschitzlr-torch does
  const Words words(arguments + 1, arguments + count);
  const std::string mode = words.empty() ? "" : words[0];
  try {
    const std::unique_ptr<Communicator> communicator = dist::connect(dist::world_env().value());
    if (mode == "sum" && words.size() == 3) {
      sum(*communicator, std::stoul(words[1]), std::stoi(words[2]));
    } else if (mode == "train" && words.size() == 5) {
      train(*communicator, words);
    } else {
      fmt::print(stderr, "dist_bench is called by compare.py\n");
      return 2;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
