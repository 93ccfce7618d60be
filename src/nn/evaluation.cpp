// The passes of a Trainer over examples that train nothing: evaluation, and the measuring pass of the authors' code.

#include <ATen/core/grad_mode.h>
#include <torch/nn/modules/batchnorm.h>

#include <cmath>
#include <numeric>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "nn/trainer_state.hpp"

namespace lipschitzlr::nn {

void Trainer::State::visit_plain(const data::Examples& set, std::span<const Index> indices, Index batch_size,
                                 const std::function<void(std::size_t, const TrainingBatch&)>& visit) {
  const at::NoGradGuard no_grad;
  const bool training = network->is_training();
  if (parallel) parallel->broadcast_weights();
  network->eval();
  const Index count = count_batches(indices.size(), batch_size);
  const auto [first, last] = communicator == nullptr ? std::pair<Index, Index>(0, count)
                                                     : share_of(count, communicator->rank(), communicator->size());
  for (Index number = first; number < last; ++number) {
    const std::span<const Index> part = batch_of(indices, number, batch_size);
    TrainingBatch inputs(set, part, options.loss);
    set.fill_plain(part, inputs.values.data());
    visit(static_cast<std::size_t>(number), inputs);
  }
  network->train(training);
}

// Cumulative averages over some batches as they are trained on; all else is as in evaluation.
void Trainer::State::refresh_statistics() {
  constexpr Index kBatches = 20;
  const at::NoGradGuard no_grad;
  const bool training = network->is_training();
  network->eval();
  std::vector<std::pair<torch::nn::BatchNormOptions*, c10::optional<double>>> changed;
  const auto begin = [&](auto* norm) {
    if (norm == nullptr) return;
    norm->reset_running_stats();
    norm->train();
    changed.emplace_back(&norm->options, norm->options.momentum());
    norm->options.momentum(c10::nullopt);
  };
  for (const std::shared_ptr<torch::nn::Module>& module : network->modules(false)) {
    begin(module->as<torch::nn::BatchNorm1dImpl>());
    begin(module->as<torch::nn::BatchNorm2dImpl>());
  }
  const std::vector<Index> all = data::epoch_order(chosen, options.seed, position.epoch);
  for (Index number = 0; number < std::min(kBatches, steps_per_epoch()); ++number) {
    const std::span<const Index> part = batch_of(all, number, options.batch);
    TrainingBatch inputs(examples, part, options.loss);
    examples.fill(part, position.epoch, inputs.values.data());
    forward(inputs);
  }
  for (const auto& [of, momentum] : changed) of->momentum(momentum);
  network->train(training);
}

JudgedNetwork::JudgedNetwork(Trainer::State& state) : weights_(*state.optimizer) {
  if (!weights_.differ()) return;
  const std::vector<at::Tensor> buffers = state.network->buffers();
  for (const at::Tensor& buffer : buffers) buffers_.emplace_back(buffer, buffer.clone());
  if (!buffers.empty()) state.refresh_statistics();
}

JudgedNetwork::~JudgedNetwork() {
  const at::NoGradGuard no_grad;
  for (const auto& [buffer, values] : buffers_) buffer.copy_(values);
}

bool Trainer::has_average() const { return state_->automatic != nullptr; }

void Trainer::use_average(bool average) {
  if (state_->automatic != nullptr) state_->automatic->use_average(average);
}

bool Trainer::uses_average() const { return state_->automatic != nullptr && state_->automatic->uses_average(); }

std::string Trainer::certificate() const {
  return state_->automatic == nullptr ? std::string() : state_->automatic->rule().certificate();
}

std::string Trainer::shortfall(double reached, double constant) const {
  return state_->automatic == nullptr ? std::string() : state_->automatic->rule().shortfall(reached, constant);
}

// The authors' way: the training examples as they are, through the network as it is used, batch by batch.
void Trainer::State::measure_pass() {
  Tap& tap = optimizer->controller().tap();
  tap.reset();
  network->head()->measure_always(true);
  std::vector<PenultimateNorms> norms(static_cast<std::size_t>(count_batches(chosen.size(), options.batch)));
  visit_plain(examples, chosen, options.batch, [&](std::size_t number, const TrainingBatch& inputs) {
    tap.divert(&norms[number]);
    measured_forward(inputs);
  });
  tap.divert(parallel ? &own_norms : nullptr);
  if (parallel) parallel->collect(norms);
  for (const PenultimateNorms& of : norms) tap.add(of);
  network->head()->measure_always(false);
  optimizer->controller().observe();
}

namespace {

// Into the rows from first on.
void copy_scores(const at::Tensor& batch, Index first, DenseMatrix<double>& scores) {
  const at::Tensor values = batch.to(at::kDouble).contiguous();
  scores.middleRows(first, values.size(0)) =
      Eigen::Map<const DenseMatrix<double>>(values.data_ptr<double>(), values.size(0), values.size(1));
}

}  // namespace

double squared_error_of_mean(const data::Examples& examples, std::span<const Index> chosen) {
  const auto count = static_cast<double>(chosen.size());
  double mean = 0, squares = 0;
  for (const Index example : chosen) mean += examples.target(example) / count;
  for (const Index example : chosen) squares += std::pow(examples.target(example) - mean, 2);
  return squares / (2 * count);
}

double r_squared(double loss, double loss_of_mean) { return loss_of_mean > 0 ? 1 - loss / loss_of_mean : 0; }

Evaluation Trainer::evaluate(const data::ImageSet& images, std::span<const Index> chosen, DenseMatrix<double>* scores) {
  if (!state_->own_images) throw Error(Fault::usage, "a trainer of other examples than images can't evaluate images");
  OwnImages& own = *state_->own_images;
  return evaluate(data::Batches(images, own.mean, {}, state_->options.seed, own.pool), chosen, scores);
}

Evaluation Trainer::evaluate(const data::Examples& examples, std::span<const Index> chosen,
                             DenseMatrix<double>* scores) {
  constexpr Index kBatch = 250;
  const JudgedNetwork judged(*state_);
  if (scores != nullptr) {
    scores->setZero(static_cast<Index>(chosen.size()), state_->options.network_options.classes);
  }
  std::vector<double> losses(static_cast<std::size_t>(count_batches(chosen.size(), kBatch))), correct(losses);
  state_->visit_plain(examples, chosen, kBatch, [&](std::size_t number, const TrainingBatch& inputs) {
    const at::Tensor outputs = state_->forward(inputs);
    const TrainingLoss loss = state_->options.loss;
    losses[number] =
        training_loss(loss, outputs, inputs.targets).item<double>() * static_cast<double>(inputs.targets.size(0));
    correct[number] = static_cast<double>(count_correct(loss, outputs, inputs.targets));
    if (scores != nullptr) copy_scores(outputs, static_cast<Index>(number) * kBatch, *scores);
  });
  // Every process has the rows of its batches, and zeros elsewhere.
  if (scores != nullptr) {
    all_reduce_sum(state_->communicator, std::span(scores->data(), static_cast<std::size_t>(scores->size())));
  }
  all_reduce_sum(state_->communicator, std::span(losses));
  all_reduce_sum(state_->communicator, std::span(correct));
  const auto count = static_cast<double>(chosen.size());
  const double loss = std::accumulate(losses.begin(), losses.end(), 0.0) / count;
  const double share = std::accumulate(correct.begin(), correct.end(), 0.0) / count;
  const bool numbers = state_->options.loss == TrainingLoss::squared_error;
  return {.loss = loss,
          .accuracy = numbers ? r_squared(loss, squared_error_of_mean(examples, chosen)) : share,
          .count = static_cast<Index>(chosen.size())};
}

}  // namespace lipschitzlr::nn
