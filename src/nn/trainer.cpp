#include "lipschitzlr/nn/trainer.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "nn/process.hpp"
#include "nn/trainer_state.hpp"
#include "nn/training_batch.hpp"

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

// A different stream for every step and process, so that a checkpoint need not hold the generator.
void seed_step(std::uint64_t seed, std::int64_t step, int rank) {
  Random mix(seed ^ (0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(step + 1)));
  for (int before = 0; before < rank; ++before) mix.bits();
  torch::manual_seed(mix.bits());
}

}  // namespace

Trainer::State::State(const TrainerOptions& asked, const data::ImageSet& set, std::vector<Index> indices,
                      Communicator* team_or_null)
    : options(checked(asked, set, indices)),
      images(set),
      chosen(std::move(indices)),
      communicator(team_or_null),
      pool(asked.threads),
      mean(asked.subtract_mean ? data::mean_image(set) : std::vector<float>{}),
      batches(set, mean, asked.augmentation, asked.seed, pool) {
  use_cores(asked.threads);
  options.network_options = network_options(options.network_options, set, options.seed);
  network = make_network(options.network, options.network_options);
  if (options.double_precision) network->to(at::kDouble);
  use_channels_last(*network);
  const Index steps = count_batches(chosen.size(), options.batch);
  options.controller.schedule_steps = static_cast<std::uint64_t>(options.schedule_epochs * steps);
  optimizer = choose_optimizer(options, *network);
  if (communicator == nullptr) return;
  parallel = std::make_unique<DataParallel>(*communicator, *network);
  optimizer.controller->join(communicator);
  optimizer.controller->tap().divert(&own_norms);
}

at::Tensor Trainer::State::forward(const TrainingBatch& batch) {
  return network->forward(options.double_precision ? batch.tensor.to(at::kDouble) : batch.tensor);
}

bool Trainer::State::measures_before_epoch() const {
  if (options.measure != Measure::pass || options.policy == Policy::baseline) return false;
  const rate::Rule& rule = optimizer.controller->rule();
  if (options.policy == Policy::fixed && rule.observations() > 0) return false;
  return position.epoch > 1 || !rule.holds_first_rate();
}

// The authors' way: the training images as they are, through the network as it is used, batch by batch. A team shares
// out whole batches, so that the norms have the bits of one process.
void Trainer::State::measure_pass() {
  const Clock::time_point start = Clock::now();
  const at::NoGradGuard no_grad;
  if (parallel) parallel->broadcast_weights();
  Tap& tap = optimizer.controller->tap();
  tap.reset();
  network->eval();
  network->head()->measure_always(true);
  const Index count = count_batches(chosen.size(), options.batch);
  std::vector<PenultimateNorms> norms(static_cast<std::size_t>(count));
  const auto [first, last] = own_batches(count);
  for (Index batch = first; batch < last; ++batch) {
    const std::span<const Index> part = batch_of(chosen, batch, options.batch);
    TrainingBatch inputs(images, static_cast<Index>(part.size()));
    batches.fill_plain(part, inputs.values.data());
    tap.divert(&norms[static_cast<std::size_t>(batch)]);
    forward(inputs);
  }
  tap.divert(parallel ? &own_norms : nullptr);
  if (parallel) parallel->collect(norms);
  for (const PenultimateNorms& of : norms) tap.add(of);
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

TrainingBatch Trainer::State::training_batch(std::span<const Index> part) {
  const Clock::time_point start = Clock::now();
  TrainingBatch inputs(images, static_cast<Index>(part.size()));
  batches.fill(part, position.epoch, inputs.values.data());
  inputs.label(images, part);
  report.data_seconds += seconds_since(start);
  return inputs;
}

BatchResult Trainer::State::compute(std::span<const Index> batch) {
  const TrainingBatch inputs = training_batch(batch);
  seed_step(options.seed, position.step, 0);
  optimizer.optimizer->zero_grad();
  const at::Tensor scores = forward(inputs);
  const at::Tensor loss = at::cross_entropy_loss(scores, inputs.labels);
  loss.backward();
  return {loss.item<double>(), count_correct(scores, inputs.labels)};
}

BatchResult Trainer::State::compute_in_team(std::span<const Index> batch) {
  const std::span<const Index> share = parallel->share(batch);
  const auto whole = static_cast<double>(batch.size());
  BatchSums own{.stop = wishes_to_stop};
  std::optional<TrainingBatch> inputs;  // which the backward pass needs too
  at::Tensor loss;                      // this process's part of the mean over the whole batch
  parallel->begin_step();
  if (!share.empty()) {
    inputs.emplace(training_batch(share));
    seed_step(options.seed, position.step, communicator->rank());
    const at::Tensor scores = forward(*inputs);
    const at::Tensor sum = at::cross_entropy_loss(scores, inputs->labels, {}, at::Reduction::Sum);
    loss = sum / whole;
    own.loss = sum.item<double>();
    own.correct = count_correct(scores, inputs->labels);
    own.norms = own_norms;
  }
  parallel->send(own);
  if (loss.defined()) loss.backward();
  const BatchSums all = parallel->receive();
  optimizer.controller->tap().add(all.norms);
  stopping = all.stop;
  return {all.loss / whole, all.correct};
}

StepReport Trainer::State::step() {
  const Clock::time_point start = Clock::now();
  const std::span<const Index> batch = batch_of(order, position.batch, options.batch);
  const auto count = static_cast<Index>(batch.size());
  const auto [value, correct] = parallel ? compute_in_team(batch) : compute(batch);
  RateController& controller = *optimizer.controller;
  if (!std::isfinite(value)) {
    const RateNumbers& numbers = controller.numbers();
    throw Error(Fault::training,
                fmt::format("the loss is {} at step {} (epoch {}), after a step of rate {:.6g} with K_z = {:.6g}, max "
                            "||w|| = {:.6g}, G = {:.6g}; try a smaller --rate or --first-rate",
                            value, position.step + 1, position.epoch, position.last_rate, numbers.penultimate_norm,
                            numbers.weight_norm, numbers.gradient_bound));
  }
  optimizer.step();
  position.last_rate = optimizer.optimizer->param_groups().front().options().get_lr();
  if (position.start_rate == 0) position.start_rate = controller.rule().rate();

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

Trainer::Trainer(const TrainerOptions& options, const data::ImageSet& images, std::vector<Index> chosen,
                 Communicator* communicator)
    : state_(std::make_unique<State>(options, images, std::move(chosen), communicator)) {}

Trainer::~Trainer() = default;

bool Trainer::run_epoch(const std::function<bool(const StepReport&)>& go_on) {
  State& state = *state_;
  state.network->train();
  state.wishes_to_stop = state.stopping = false;
  if (state.order.empty()) state.begin_epoch();
  while (state.position.batch < steps_per_epoch()) {
    const StepReport report = state.step();
    if (!go_on(report)) state.wishes_to_stop = true;
    const bool stop = state.parallel ? state.stopping : state.wishes_to_stop;
    if (stop && state.position.batch < steps_per_epoch()) return false;
  }
  state.finish_epoch();
  return true;
}

EpochReport Trainer::epoch_report() const { return state_->report; }
std::int64_t Trainer::epochs_done() const { return state_->position.epoch - 1; }
std::int64_t Trainer::steps_done() const { return state_->position.step; }
Index Trainer::steps_per_epoch() const {
  const Index images = static_cast<Index>(state_->chosen.size()), batch = state_->options.batch;
  // Batch norm has nothing to learn from a single image: left over, it waits for another epoch's order.
  const bool single = batch > 1 && images > batch && images % batch == 1;
  return count_batches(state_->chosen.size(), batch) - (single ? 1 : 0);
}

Index Trainer::parameter_count() const {
  Index count = 0;
  for (const at::Tensor& parameter : state_->network->parameters()) count += parameter.numel();
  return count;
}

Index Trainer::penultimate_width() const { return state_->network->head()->weight.size(1); }
double Trainer::weight_norm() const { return largest_norm(state_->network->parameters()); }

// As in measure_pass(), a team shares out whole batches.
Evaluation Trainer::evaluate(const data::ImageSet& images, std::span<const Index> chosen) {
  State& state = *state_;
  const at::NoGradGuard no_grad;
  const bool training = state.network->is_training();
  if (state.parallel) state.parallel->broadcast_weights();
  state.network->eval();
  const data::Batches batches(images, state.mean, {}, state.options.seed, state.pool);
  constexpr Index kBatch = 250;
  const Index count = count_batches(chosen.size(), kBatch);
  std::vector<double> losses(static_cast<std::size_t>(count)), correct(losses);
  const auto [first, last] = state.own_batches(count);
  for (Index batch = first; batch < last; ++batch) {
    const std::span<const Index> part = batch_of(chosen, batch, kBatch);
    TrainingBatch inputs(images, static_cast<Index>(part.size()));
    batches.fill_plain(part, inputs.values.data());
    inputs.label(images, part);
    const at::Tensor scores = state.forward(inputs);
    losses[static_cast<std::size_t>(batch)] =
        at::cross_entropy_loss(scores, inputs.labels).item<double>() * static_cast<double>(part.size());
    correct[static_cast<std::size_t>(batch)] = static_cast<double>(count_correct(scores, inputs.labels));
  }
  state.network->train(training);
  all_reduce_sum(state.communicator, std::span(losses));
  all_reduce_sum(state.communicator, std::span(correct));
  const auto images_seen = static_cast<double>(chosen.size());
  return {.loss = std::accumulate(losses.begin(), losses.end(), 0.0) / images_seen,
          .accuracy = std::accumulate(correct.begin(), correct.end(), 0.0) / images_seen,
          .count = static_cast<Index>(chosen.size())};
}

}  // namespace lipschitzlr::nn
