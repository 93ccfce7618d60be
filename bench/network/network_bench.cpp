// Our side of compare.py, which starts this program, waits until it is ready and then has it work one line at a time:
//   train NETWORK BATCH STEPS THREADS in-step|pass PADDING OPTIMIZER
//       go: trains an epoch of so many steps, prints the seconds of the steps, of the batches within them and of the
//       authors' measuring pass; check FOLDER: writes images and weights there, prints the loss in evaluation mode
//   tap ROWS COLUMNS THREADS   go: prints the seconds one measurement takes
//   peak THREADS               go: prints operations per second of the machine

#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "kernel/machine.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/memory.hpp"
#include "lipschitzlr/nn/penultimate.hpp"
#include "lipschitzlr/nn/process.hpp"
#include "lipschitzlr/nn/trainer.hpp"
#include "network/made_up_images.hpp"

namespace {

using namespace lipschitzlr;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The answers go to compare.py through a pipe: each must leave at once.
void answer(const std::string& line) { std::cout << line << std::endl; }

constexpr std::int64_t kAutoSteps = 240;  // that auto is told of; the first tenth of them, 25, calibrate

nn::TrainerOptions training(const Words& words, bool mnist) {
  nn::TrainerOptions options;
  options.network = words[1];
  options.batch = std::stol(words[2]);
  options.threads = static_cast<unsigned>(std::stoul(words[4]));
  options.measure = words[5] == "pass" ? nn::Measure::pass : nn::Measure::in_step;
  options.network_options.padding = nn::padding_from(words[6]);
  options.optimizer = words[7];
  if (options.optimizer == "adam") options.policy = nn::Policy::baseline;
  if (options.optimizer == "auto") options.schedule_epochs = kAutoSteps / std::stol(words[3]);
  options.augmentation = mnist ? data::Augmentation{.shift = 0.1, .zoom = 0.1, .rotation = 15}
                               : data::Augmentation{.shift = 0.1, .flip = true};
  options.subtract_mean = true;
  // Labels that mean nothing can't be learnt: a large constant keeps the rate, and with it the weights, small.
  options.controller.l2 = 1e4;
  return options;
}

void check(nn::Trainer& trainer, const data::ImageSet& images, const std::vector<Index>& all,
           const std::string& folder) {
  trainer.save_weights(folder + "/weights.safetensors");
  std::ofstream pixels(folder + "/pixels.bin", std::ios::binary);
  pixels.write(reinterpret_cast<const char*>(images.pixels.data()), static_cast<std::streamsize>(images.pixels.size()));
  const nn::Evaluation seen = trainer.evaluate(images, all);
  answer(fmt::format(R"({{"loss": {:.9g}, "parameters": {}}})", seen.loss, trainer.parameter_count()));
}

void train(const Words& words) {
  const bool mnist = words[1] == "mnist-cnn";
  const nn::TrainerOptions options = training(words, mnist);
  const data::ImageSet images = bench::made_up_images(mnist, options.batch * std::stol(words[3]));
  std::vector<Index> all(static_cast<std::size_t>(images.count()));
  std::iota(all.begin(), all.end(), Index{0});
  nn::Trainer trainer(options, images, all);
  answer("{}");
  for (std::string line; std::getline(std::cin, line);) {
    if (line != "go") {
      check(trainer, images, all, line.substr(line.find(' ') + 1));
      continue;
    }
    trainer.run_epoch([](const nn::StepReport&) { return true; });
    const nn::EpochReport report = trainer.epoch_report();
    answer(fmt::format(R"({{"images": {}, "seconds": {:.6f}, "data": {:.6f}, "measure": {:.6f}}})", report.images,
                       report.train_seconds, report.data_seconds, report.measure_seconds));
  }
}

void tap(const Words& words) {
  nn::use_cores(static_cast<unsigned>(std::stoul(words[3])));
  const at::Tensor activations = at::randn({std::stol(words[1]), std::stol(words[2])});
  constexpr int kTimes = 500;
  answer("{}");
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<double> seconds;
    for (int i = 0; i < kTimes; ++i) {
      const auto start = Clock::now();
      nn::measure_penultimate(activations);
      seconds.push_back(seconds_since(start));
    }
    std::nth_element(seconds.begin(), seconds.begin() + kTimes / 2, seconds.end());
    answer(fmt::format(R"({{"seconds": {:.9f}}})", seconds[kTimes / 2]));
  }
}

// OpenBLAS keeps the threads the environment gave it here.
void peak(const Words& words) {
  const auto threads = static_cast<unsigned>(std::stoul(words[1]));
  at::set_num_threads(static_cast<int>(threads));
  ThreadPool pool(threads);
  constexpr Index kSize = 2048;
  const at::Tensor left = at::randn({kSize, kSize}), right = at::randn({kSize, kSize});
  answer("{}");
  for (std::string line; std::getline(std::cin, line);) {
    double sgemm = 0;
    for (int i = 0; i < 5; ++i) {
      const auto start = Clock::now();
      at::mm(left, right);
      sgemm = std::max(sgemm, 2.0 * kSize * kSize * kSize / seconds_since(start));
    }
    answer(fmt::format(R"({{"sgemm": {:.6g}, "fma": {:.6g}}})", sgemm, bench::peak_flops<float>(pool)));
  }
}

}  // namespace

int main(int count, char** arguments) {
  lipschitzlr::keep_memory();  // as lipschitzlr-torch does
  const Words words(arguments + 1, arguments + count);
  const std::string mode = words.empty() ? "" : words[0];
  try {
    if (mode == "train" && words.size() == 8) {
      train(words);
    } else if (mode == "tap" && words.size() == 4) {
      tap(words);
    } else if (mode == "peak" && words.size() == 2) {
      peak(words);
    } else {
      fmt::print(stderr, "network_bench is called by compare.py\n");
      return 2;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
