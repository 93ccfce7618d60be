#include "lipschitzlr/run/network_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/clock.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/run/trainer_setup.hpp"

namespace lipschitzlr::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kSteps = 3;

data::ImageSet noise_like(const std::string& name, Index count) {
  const data::catalogue::Entry& entry = data::catalogue::entry(name);
  if (!entry.holds_images()) throw Error(Fault::usage, fmt::format("{} is no set of images", name));
  data::ImageSet images;
  images.channels = entry.columns % 3 == 0 ? 3 : 1;
  images.height = images.width = std::lround(std::sqrt(static_cast<double>(entry.columns / images.channels)));
  constexpr int classes = 10;  // the last layer of a hundred takes no longer
  for (int label = 0; label < classes; ++label) images.classes.push_back(std::to_string(label));
  Random random(1);
  images.pixels.resize(static_cast<std::size_t>(count * images.pixels_per_image()));
  for (std::uint8_t& pixel : images.pixels) pixel = static_cast<std::uint8_t>(random.below(256));
  for (Index i = 0; i < count; ++i) images.labels.push_back(static_cast<std::int32_t>(i % classes));
  return images;
}

}  // namespace

NetworkSpeed probe_network(const std::string& data, const std::string& network, Index batch, unsigned threads) {
  const data::ImageSet images = noise_like(data, kSteps * batch);
  TrainOptions options;
  options.data = data;
  options.network = network;
  options.batch = batch;
  options.optimizer = "sgd";
  options.policy = Policy::baseline;
  options.threads = threads;
  nn::Trainer trainer(trainer_options(completed(options, images), images), images, data::all_images(images));
  std::vector<double> times;
  Clock::time_point last = Clock::now();
  trainer.run_epoch([&](const nn::StepReport&) {
    times.push_back(seconds_since(last));
    last = Clock::now();
    return true;
  });
  std::vector<Index> one_batch = data::all_images(images);
  one_batch.resize(static_cast<std::size_t>(batch));
  std::vector<double> passes;
  for (int pass = 0; pass < 2; ++pass) {
    last = Clock::now();
    trainer.evaluate(images, one_batch);
    passes.push_back(seconds_since(last));
  }
  const auto per_image = [&](double seconds) { return seconds / static_cast<double>(batch); };
  return {data, network, batch, per_image(*std::min_element(times.begin() + 1, times.end())),
          per_image(*std::min_element(passes.begin(), passes.end()))};
}

}  // namespace lipschitzlr::run
