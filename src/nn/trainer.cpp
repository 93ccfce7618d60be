#include "lipschitzlr/nn/trainer.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <chrono>
#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "nn/process.hpp"
#include "nn/trainer_state.hpp"

namespace lipschitzlr::nn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

const TrainerOptions& checked(const TrainerOptions& options, const data::ImageSet& images,
                              const std::vector<Index>& chosen) {
  const auto refuse = [](const std::string& sentence) { throw Error(Fault::usage, sentence); };
  if (chosen.empty() || images.count() == 0) refuse("there are no images to train on");
  if (options.batch < 2) refuse(fmt::format("a batch needs at least 2 images, not {}", options.batch));
  if (!(options.weight_decay >= 0)) refuse("the weight decay must be 0 or above");
  return options;
}

NetworkOptions network_options(NetworkOptions options, const data::ImageSet& images, std::uint64_t seed) {
  options.channels = images.channels;
  options.height = images.height;
  options.width = images.width;
  options.classes = static_cast<Index>(images.classes.size());
  options.seed = seed;
  return options;
}

// Convolutions are fastest when the channels of a pixel lie side by side, in images and in weights.
void use_channels_last(Network& network) {
  for (at::Tensor& parameter : network.parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  }
}

// A batch that is filled by data::Batches: images lie with their channels side by side there too.
struct Batch {
  Batch(const data::ImageSet& images, Index count)
      : values(static_cast<std::size_t>(count * images.pixels_per_image())),
        tensor(at::from_blob(values.data(), {count, images.channels, images.height, images.width},
                             {images.pixels_per_image(), 1, images.width * images.channels, images.channels},
                             at::kFloat)),
        labels(at::empty({count}, at::kLong)) {}

  void label(const data::ImageSet& images, std::span<const Index> chosen) {
    auto* label = labels.data_ptr<std::int64_t>();
    for (const Index image : chosen) *label++ = images.labels[static_cast<std::size_t>(image)];
  }

  std::vector<float> values;
  at::Tensor tensor, labels;
};

std::span<const Index> part_of(std::span<const Index> all, Index batch, Index size) {
  const auto begin = static_cast<std::size_t>(batch * size);
  return all.subspan(begin, std::min(static_cast<std::size_t>(size), all.size() - begin));
}

Index count_correct(const at::Tensor& scores, const at::Tensor& labels) {
  return scores.argmax(1).eq(labels).sum().item<Index>();
}

// A different stream for every step, so that a checkpoint need not hold the generator.
void seed_step(std::uint64_t seed, std::int64_t step) {
  Random mix(seed ^ (0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(step + 1)));
  torch::manual_seed(mix.bits());
}

}  // namespace

Trainer::State::State(const TrainerOptions& asked, const data::ImageSet& set, std::vector<Index> indices)
    : options(checked(asked, set, indices)),
      images(set),
      chosen(std::move(indices)),
      pool(asked.threads),
      mean(asked.subtract_mean ? data::mean_image(set) : std::vector<float>{}),
      batches(set, mean, asked.augmentation, asked.seed, pool) {
  use_cores(asked.threads);
  options.network_options = network_options(options.network_options, set, options.seed);
  network = make_network(options.network, options.network_options);
  use_channels_last(*network);
  optimizer = choose_optimizer(options, *network);
}

bool Trainer::State::measures_before_epoch() const {
  if (options.measure != Measure::pass || options.policy == Policy::baseline) return false;
  const rate::Rule& rule = optimizer.controller->rule();
  if (options.policy == Policy::fixed && rule.observations() > 0) return false;
  return position.epoch > 1 || !rule.holds_first_rate();
}

// The authors' way: the training images as they are, through the network as it is used, batch by batch.
void Trainer::State::measure_pass() {
  const Clock::time_point start = Clock::now();
  const at::NoGradGuard no_grad;
  Tap& tap = optimizer.controller->tap();
  tap.reset();
  network->eval();
  network->head()->measure_always(true);
  const auto count = static_cast<Index>(chosen.size());
  for (Index batch = 0; batch * options.batch < count; ++batch) {
    const std::span<const Index> part = part_of(chosen, batch, options.batch);
    Batch inputs(images, static_cast<Index>(part.size()));
    batches.fill_plain(part, inputs.values.data());
    network->forward(inputs.tensor);
  }
  network->head()->measure_always(false);
  network->train();
  optimizer.controller->observe();
  report.measure_seconds = seconds_since(start);
}

void Trainer::State::begin_epoch() {
  order = batches.order(chosen, position.epoch);
  if (position.batch > 0) return;
  report = {};
  if (measures_before_epoch()) measure_pass();
  const rate::Rule& rule = optimizer.controller->rule();
  position.start_rate = rule.has_rate() ? rule.rate() : 0;
}

StepReport Trainer::State::step() {
  const Clock::time_point start = Clock::now();
  const std::span<const Index> part = part_of(order, position.batch, options.batch);
  const auto count = static_cast<Index>(part.size());
  Batch inputs(images, count);
  batches.fill(part, position.epoch, inputs.values.data());
  inputs.label(images, part);
  report.data_seconds += seconds_since(start);

  seed_step(options.seed, position.step);
  optimizer.optimizer->zero_grad();
  const at::Tensor scores = network->forward(inputs.tensor);
  const at::Tensor loss = at::cross_entropy_loss(scores, inputs.labels);
  const double value = loss.item<double>();
  RateController& controller = *optimizer.controller;
  if (!std::isfinite(value)) {
    const RateNumbers& numbers = controller.numbers();
    throw Error(Fault::training,
                fmt::format("the loss is {} at step {} (epoch {}), after a step of rate {:.6g} with K_z = {:.6g}, max "
                            "||w|| = {:.6g}, G = {:.6g}; try a smaller --first-rate",
                            value, position.step + 1, position.epoch, position.last_rate, numbers.penultimate_norm,
                            numbers.weight_norm, numbers.gradient_bound));
  }
  loss.backward();
  optimizer.step();
  position.last_rate = optimizer.optimizer->param_groups().front().options().get_lr();
  if (position.start_rate == 0) position.start_rate = controller.rule().rate();

  const Index correct = count_correct(scores, inputs.labels);
  ++position.step;
  ++position.batch;
  position.loss_sum += value * static_cast<double>(count);
  position.correct += correct;
  position.seen += count;
  report.images += count;
  report.train_seconds += seconds_since(start);
  const auto seen = static_cast<double>(position.seen);
  return {.epoch = position.epoch,
          .step = position.step,
          .images = position.seen,
          .images_in_epoch = static_cast<Index>(chosen.size()),
          .loss = value,
          .accuracy = static_cast<double>(correct) / static_cast<double>(count),
          .mean_loss = position.loss_sum / seen,
          .mean_accuracy = static_cast<double>(position.correct) / seen,
          .rate = position.last_rate,
          .penultimate_norm = controller.tap().reading().last.frobenius};
}

void Trainer::State::finish_epoch() {
  RateController& controller = *optimizer.controller;
  if (options.measure == Measure::in_step && options.policy != Policy::baseline) controller.end_epoch();
  const auto seen = static_cast<double>(position.seen);
  report.epoch = position.epoch;
  report.step = position.step;
  report.loss = position.loss_sum / seen;
  report.accuracy = static_cast<double>(position.correct) / seen;
  report.rate = position.start_rate;
  report.last_rate = position.last_rate;
  report.numbers = controller.numbers();
  double squares = 0;
  for (const at::Tensor& weight : options.decay_some_only ? network->penalized() : network->parameters()) {
    squares += weight.detach().square().sum().item<double>();
  }
  report.penalty = options.weight_decay / 2 * squares;
  position = {.epoch = position.epoch + 1, .step = position.step, .last_rate = position.last_rate};
  order.clear();
}

Trainer::Trainer(const TrainerOptions& options, const data::ImageSet& images, std::vector<Index> chosen)
    : state_(std::make_unique<State>(options, images, std::move(chosen))) {}

Trainer::~Trainer() = default;

bool Trainer::run_epoch(const std::function<bool(const StepReport&)>& go_on) {
  State& state = *state_;
  state.network->train();
  if (state.order.empty()) state.begin_epoch();
  while (state.position.batch < steps_per_epoch()) {
    const StepReport report = state.step();
    if (!go_on(report) && state.position.batch < steps_per_epoch()) return false;
  }
  state.finish_epoch();
  return true;
}

EpochReport Trainer::epoch_report() const { return state_->report; }
std::int64_t Trainer::epochs_done() const { return state_->position.epoch - 1; }
std::int64_t Trainer::steps_done() const { return state_->position.step; }

Index Trainer::steps_per_epoch() const {
  return (static_cast<Index>(state_->chosen.size()) + state_->options.batch - 1) / state_->options.batch;
}

Index Trainer::parameter_count() const {
  Index count = 0;
  for (const at::Tensor& parameter : state_->network->parameters()) count += parameter.numel();
  return count;
}

Index Trainer::penultimate_width() const { return state_->network->head()->weight.size(1); }

double Trainer::weight_norm() const { return largest_norm(state_->network->parameters()); }

Evaluation Trainer::evaluate(const data::ImageSet& images, std::span<const Index> chosen) {
  State& state = *state_;
  const at::NoGradGuard no_grad;
  const bool training = state.network->is_training();
  state.network->eval();
  const data::Batches batches(images, state.mean, {}, state.options.seed, state.pool);
  Evaluation result;
  double loss_sum = 0;
  Index correct = 0;
  constexpr Index kBatch = 250;
  for (Index batch = 0; batch * kBatch < static_cast<Index>(chosen.size()); ++batch) {
    const std::span<const Index> part = part_of(chosen, batch, kBatch);
    Batch inputs(images, static_cast<Index>(part.size()));
    batches.fill_plain(part, inputs.values.data());
    inputs.label(images, part);
    const at::Tensor scores = state.network->forward(inputs.tensor);
    loss_sum += at::cross_entropy_loss(scores, inputs.labels).item<double>() * static_cast<double>(part.size());
    correct += count_correct(scores, inputs.labels);
  }
  state.network->train(training);
  result.count = static_cast<Index>(chosen.size());
  result.loss = loss_sum / static_cast<double>(result.count);
  result.accuracy = static_cast<double>(correct) / static_cast<double>(result.count);
  return result;
}

}  // namespace lipschitzlr::nn
