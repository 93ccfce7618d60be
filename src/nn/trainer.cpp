#include "lipschitzlr/nn/trainer.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "base/clock.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/nn/process.hpp"
#include "nn/optimizer/registry_entry.hpp"
#include "nn/trainer_state.hpp"

namespace lipschitzlr::nn {
namespace {

using Clock = std::chrono::steady_clock;

const TrainerOptions& checked(const TrainerOptions& options, const data::Examples& examples,
                              const std::vector<Index>& chosen) {
  const auto refuse = [](const std::string& sentence) { throw Error(Fault::usage, sentence); };
  if (chosen.empty() || examples.count() == 0) refuse("there are no examples to train on");
  const Index classes = examples.classes();
  if (takes_classes(options.loss) && classes < 2) {
    refuse(fmt::format("{} needs at least 2 classes, the data has {}", options.network, classes));
  }
  if (options.loss == TrainingLoss::binary_cross_entropy && classes != 2) {
    refuse(fmt::format("binary cross-entropy needs 2 classes, the data has {}", classes));
  }
  if (options.loss == TrainingLoss::squared_error && classes != 0) {
    refuse(fmt::format("squared error needs numbers for targets, the data has {} classes", classes));
  }
  if (options.batch < 2) refuse(fmt::format("a batch needs at least 2 examples, not {}", options.batch));
  if (!(options.weight_decay >= 0)) refuse("the weight decay must be 0 or above");
  return options;
}

NetworkOptions network_options(const TrainerOptions& options, const data::Examples& examples) {
  NetworkOptions network = options.network_options;
  const data::Examples::Shape shape = examples.shape();
  network.channels = shape.channels;
  network.height = shape.height;
  network.width = shape.width;
  network.classes = takes_classes(options.loss) ? examples.classes() : 1;
  network.seed = options.seed;
  return network;
}

// What the rate's constant is computed from; of several classes the head tells it.
Loss loss_of_rate(TrainingLoss loss) {
  if (loss == TrainingLoss::binary_cross_entropy) return binary_cross_entropy();
  if (loss == TrainingLoss::squared_error) return squared_error();
  return {};
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

OwnImages::OwnImages(const TrainerOptions& options, const data::ImageSet& set)
    : pool(options.threads),
      mean(options.subtract_mean ? data::mean_image(set) : std::vector<float>{}),
      batches(set, mean, options.augmentation, options.seed, pool) {}

Trainer::State::State(const TrainerOptions& asked, const data::Examples& all, std::vector<Index> indices,
                      Communicator* processes)
    : options(checked(asked, all, indices)), examples(all), chosen(std::move(indices)), communicator(processes) {
  use_cores(asked.threads);
  options.network_options = network_options(options, all);
  options.controller.loss = loss_of_rate(options.loss);
  if (options.loss == TrainingLoss::squared_error) mean_loss = squared_error_of_mean(all, chosen);
  network = make_network(options.network, options.network_options);
  if (options.double_precision) network->to(at::kDouble);
  use_channels_last(*network);
  const Index steps = steps_per_epoch();
  options.controller.schedule_steps = static_cast<std::uint64_t>(options.schedule_epochs * steps);
  options.controller.warmup_steps =
      static_cast<std::uint64_t>(options.warmup * static_cast<double>(options.controller.schedule_steps));
  optimizer = optimizer::make_optimizer(options, *network);
  automatic = dynamic_cast<Auto*>(optimizer.get());
  if (options.check) {
    check.emplace(*network);
    network->head()->tap()->want_tight_constant(true);
  }
  if (communicator == nullptr) return;
  parallel = std::make_unique<DataParallel>(*communicator, *network);
  optimizer->controller().join(communicator);
  optimizer->controller().tap().divert(&own_norms);
}

at::Tensor Trainer::State::forward(const TrainingBatch& batch) {
  return network->forward(options.double_precision ? batch.tensor.to(at::kDouble) : batch.tensor);
}

at::Tensor Trainer::State::measured_forward(const TrainingBatch& batch) {
  const at::Tensor outputs = forward(batch);
  if (options.loss == TrainingLoss::squared_error) {
    optimizer->controller().tap().observe_numbers(outputs, batch.targets);
  }
  return outputs;
}

Index Trainer::State::steps_per_epoch() const {
  // Batch norm has nothing to learn from a single image: left over, it waits for another epoch's order.
  const auto count = static_cast<Index>(chosen.size());
  const Index rest = count % options.batch;
  const bool dropped = count > options.batch && (rest == 1 || (options.drop_last && rest > 0));
  return count_batches(chosen.size(), options.batch) - (dropped ? 1 : 0);
}

double Trainer::State::accuracy_of(double loss, double correct) const {
  return options.loss == TrainingLoss::squared_error ? r_squared(loss, mean_loss) : correct;
}

bool Trainer::State::measures_before_epoch() const {
  const rate::Rule& rule = optimizer->controller().rule();
  if (options.measure != Measure::pass || !rule.measures()) return false;
  if (options.policy == Policy::fixed && rule.observations() > 0) return false;
  return position.epoch > 1 || !rule.holds_first_rate();
}

void Trainer::State::begin_epoch() {
  order = data::epoch_order(chosen, options.seed, position.epoch);
  if (position.batch > 0) return;
  report = {};
  if (check) check->take();
  if (measures_before_epoch()) {
    const Clock::time_point start = Clock::now();
    measure_pass();
    report.measure_seconds = seconds_since(start);
  }
  const rate::Rule& rule = optimizer->controller().rule();
  position.start_rate = automatic == nullptr && rule.has_rate() ? rule.rate() : 0;
}

TrainingBatch Trainer::State::training_batch(std::span<const Index> part) {
  const Clock::time_point start = Clock::now();
  TrainingBatch inputs(examples, part, options.loss);
  examples.fill(part, position.epoch, inputs.values.data());
  report.data_seconds += seconds_since(start);
  return inputs;
}

BatchResult Trainer::State::compute(std::span<const Index> batch) {
  const TrainingBatch inputs = training_batch(batch);
  seed_step(options.seed, position.step, 0);
  optimizer->zero_grad();
  const at::Tensor outputs = measured_forward(inputs);
  const at::Tensor loss = training_loss(options.loss, outputs, inputs.targets);
  loss.backward();
  return {loss.item<double>(), count_correct(options.loss, outputs, inputs.targets)};
}

BatchResult Trainer::State::compute_in_parallel(std::span<const Index> batch) {
  const std::span<const Index> share = parallel->share(batch);
  const auto whole = static_cast<double>(batch.size());
  BatchSums own{.stop = stop_requested};
  std::optional<TrainingBatch> inputs;  // which the backward pass needs too
  at::Tensor loss;                      // this process's part of the mean over the whole batch
  parallel->begin_step();
  if (!share.empty()) {
    inputs.emplace(training_batch(share));
    seed_step(options.seed, position.step, communicator->rank());
    const at::Tensor outputs = measured_forward(*inputs);
    const at::Tensor sum = training_loss(options.loss, outputs, inputs->targets, at::Reduction::Sum);
    loss = sum / whole;
    own.loss = sum.item<double>();
    own.correct = count_correct(options.loss, outputs, inputs->targets);
    own.norms = own_norms;
  }
  parallel->send(own);
  if (loss.defined()) loss.backward();
  const BatchSums all = parallel->receive();
  optimizer->controller().tap().add(all.norms);
  stopping = all.stop;
  return {all.loss / whole, all.correct};
}

void Trainer::State::take_step(double loss) {
  if (!check) return optimizer->step(loss);
  Tap& tap = *network->head()->tap();
  check->before_step(tap.reading().last, all_reduce_sum(communicator, tap.tight_constant()));
  optimizer->step(loss);
  tap.take_tight_constant();
  check->after_step();
}

StepReport Trainer::State::step() {
  const Clock::time_point start = Clock::now();
  const std::span<const Index> batch = batch_of(order, position.batch, options.batch);
  const auto count = static_cast<Index>(batch.size());
  const auto [value, correct] = parallel ? compute_in_parallel(batch) : compute(batch);
  RateController& controller = optimizer->controller();
  if (!std::isfinite(value) && automatic == nullptr) {
    const RateNumbers& numbers = controller.numbers();
    throw Error(Fault::training,
                fmt::format("the loss is {} at step {} (epoch {}), after a step of rate {:.6g} with K_z = {:.6g}, max "
                            "||w|| = {:.6g}, G = {:.6g}; try a smaller --rate or --first-rate",
                            std::isnan(value) ? "not a number" : "infinite", position.step + 1, position.epoch,
                            position.last_rate, numbers.penultimate_norm, numbers.weight_norm, numbers.gradient_bound));
  }
  take_step(value);
  position.last_rate =
      automatic != nullptr ? automatic->rule().numbers().rate : optimizer->param_groups().front().options().get_lr();
  if (position.start_rate == 0) {
    position.start_rate = automatic != nullptr ? position.last_rate : controller.rule().rate();
  }

  ++position.step;
  ++position.batch;
  if (std::isfinite(value)) position.loss_sum += value * static_cast<double>(count);  // else auto has gone back
  position.correct += correct;
  position.seen += count;
  report.images += count;
  report.train_seconds += seconds_since(start);
  const auto seen = static_cast<double>(position.seen);
  StepReport step{.epoch = position.epoch,
                  .step = position.step,
                  .images = position.seen,
                  .images_in_epoch = static_cast<Index>(chosen.size()),
                  .loss = value,
                  .accuracy = accuracy_of(value, static_cast<double>(correct) / static_cast<double>(count)),
                  .mean_loss = position.loss_sum / seen,
                  .mean_accuracy = accuracy_of(position.loss_sum / seen, static_cast<double>(position.correct) / seen),
                  .rate = position.last_rate,
                  .penultimate_norm = controller.tap().reading().last.frobenius};
  if (automatic != nullptr) {
    step.automatic = automatic->rule().numbers();
    step.remark = automatic->remark();
  }
  return step;
}

void Trainer::State::finish_epoch() {
  RateController& controller = optimizer->controller();
  if (options.measure == Measure::in_step) controller.end_epoch();
  const auto seen = static_cast<double>(position.seen);
  report.epoch = position.epoch;
  report.step = position.step;
  report.loss = position.loss_sum / seen;
  report.accuracy = accuracy_of(report.loss, static_cast<double>(position.correct) / seen);
  report.rate = position.start_rate;
  report.last_rate = position.last_rate;
  report.numbers = controller.numbers();
  if (automatic != nullptr) report.automatic = automatic->rule().numbers();
  if (check) report.check = check->take();
  double squares = 0;
  for (const at::Tensor& weight : options.decay_some_only ? network->penalized() : network->parameters()) {
    squares += weight.detach().square().sum().item<double>();
  }
  report.penalty = options.weight_decay / 2 * squares;
  position = {.epoch = position.epoch + 1, .step = position.step, .last_rate = position.last_rate};
  order.clear();
}

Trainer::Trainer(const TrainerOptions& options, const data::Examples& examples, std::vector<Index> chosen,
                 Communicator* communicator)
    : state_(std::make_unique<State>(options, examples, std::move(chosen), communicator)) {}

Trainer::Trainer(const TrainerOptions& options, const data::ImageSet& images, std::vector<Index> chosen,
                 Communicator* communicator) {
  auto own = std::make_unique<OwnImages>(options, images);
  state_ = std::make_unique<State>(options, own->batches, std::move(chosen), communicator);
  state_->own_images = std::move(own);
}

Trainer::~Trainer() = default;

bool Trainer::run_epoch(const std::function<bool(const StepReport&)>& go_on) {
  State& state = *state_;
  state.network->train();
  state.stop_requested = state.stopping = false;
  if (state.order.empty()) state.begin_epoch();
  while (state.position.batch < state.steps_per_epoch()) {
    const StepReport report = state.step();
    if (!go_on(report)) state.stop_requested = true;
    const bool stop = state.parallel ? state.stopping : state.stop_requested;
    if (stop && state.position.batch < state.steps_per_epoch()) return false;
  }
  state.finish_epoch();
  return true;
}

EpochReport Trainer::epoch_report() const { return state_->report; }
std::int64_t Trainer::epochs_done() const { return state_->position.epoch - 1; }
std::int64_t Trainer::steps_done() const { return state_->position.step; }
Index Trainer::steps_per_epoch() const { return state_->steps_per_epoch(); }

Index Trainer::parameter_count() const {
  Index count = 0;
  for (const at::Tensor& parameter : state_->network->parameters()) count += parameter.numel();
  return count;
}

Index Trainer::penultimate_width() const { return state_->network->head()->weight.size(1); }
double Trainer::weight_norm() const { return largest_norm(state_->network->parameters()); }

}  // namespace lipschitzlr::nn
