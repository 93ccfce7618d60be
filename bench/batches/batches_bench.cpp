// Fills the batches of one epoch, augmented as the paper's runs were, from made-up images of the size of CIFAR or MNIST
// and prints, as one line of JSON, images, wall and processor seconds. Called by compare.py.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/batch/batches.hpp"

namespace {

using namespace lipschitzlr;

struct Setting {
  Index count, height, width, channels, batch;
  data::Augmentation augmentation;
};

Setting setting(const std::string& name) {
  if (name == "cifar") return {50000, 32, 32, 3, 128, {.shift = 0.1, .flip = true}};
  return {60000, 28, 28, 1, 256, {.shift = 0.1, .zoom = 0.1, .rotation = 15}};
}

data::ImageSet made_up_images(const Setting& setting) {
  data::ImageSet set{.height = setting.height, .width = setting.width, .channels = setting.channels};
  set.labels.resize(static_cast<std::size_t>(setting.count));
  set.pixels.resize(static_cast<std::size_t>(setting.count * set.pixels_per_image()));
  Random random(1);
  for (auto& pixel : set.pixels) pixel = static_cast<std::uint8_t>(random.bits());
  return set;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(const Setting& setting, unsigned threads) {
  const data::ImageSet set = made_up_images(setting);
  ThreadPool pool(threads);
  const data::Batches batches(set, data::mean_image(set), setting.augmentation, 1, pool);
  std::vector<Index> images(static_cast<std::size_t>(set.count()));
  std::iota(images.begin(), images.end(), Index{0});
  std::vector<float> out(static_cast<std::size_t>(setting.batch * set.pixels_per_image()));

  const auto start = std::chrono::steady_clock::now();
  const double processor_start = processor_seconds();
  const std::vector<Index> order = data::epoch_order(images, 1, 1);
  double sum = 0;  // printed, so that nothing can be left out
  for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(setting.batch)) {
    const std::size_t size = std::min(static_cast<std::size_t>(setting.batch), order.size() - first);
    batches.fill(std::span(order).subspan(first, size), 1, out.data());
    sum += out.front();
  }
  const double processor = processor_seconds() - processor_start;
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("{\"images\": %zu, \"wall\": %.6f, \"processor\": %.6f, \"sum\": %.9g}\n", order.size(), wall, processor,
              sum);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string name = count == 3 ? arguments[1] : "";
  if (name != "cifar" && name != "mnist") {
    std::fprintf(stderr, "usage: batches_bench cifar|mnist THREADS\n");
    return 2;
  }
  try {
    measure(setting(name), static_cast<unsigned>(std::atoi(arguments[2])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
