// The passes of a Trainer over images that train nothing: evaluation, and the measuring pass of the authors' code.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <torch/nn/modules/batchnorm.h>

#include <numeric>

#include "lipschitzlr/base/collective.hpp"
#include "nn/trainer_state.hpp"

namespace lipschitzlr::nn {

void Trainer::State::visit_plain(const data::ImageSet& set, std::span<const Index> indices, Index batch_size,
                                 const std::function<void(std::size_t, const TrainingBatch&)>& visit) {
  const at::NoGradGuard no_grad;
  const bool training = network->is_training();
  if (parallel) parallel->broadcast_weights();
  network->eval();
  const data::Batches plain(set, mean, {}, options.seed, pool);
  const Index count = count_batches(indices.size(), batch_size);
  const auto [first, last] = communicator == nullptr ? std::pair<Index, Index>(0, count)
                                                     : share_of(count, communicator->rank(), communicator->size());
  for (Index number = first; number < last; ++number) {
    const std::span<const Index> part = batch_of(indices, number, batch_size);
    TrainingBatch inputs(set, static_cast<Index>(part.size()));
    plain.fill_plain(part, inputs.values.data());
    inputs.label(set, part);
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
  const std::vector<Index> all = batches.order(chosen, position.epoch);
  for (Index number = 0; number < std::min(kBatches, steps_per_epoch()); ++number) {
    const std::span<const Index> part = batch_of(all, number, options.batch);
    TrainingBatch inputs(images, static_cast<Index>(part.size()));
    batches.fill(part, position.epoch, inputs.values.data());
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

// The authors' way: the training images as they are, through the network as it is used, batch by batch.
void Trainer::State::measure_pass() {
  Tap& tap = optimizer->controller().tap();
  tap.reset();
  network->head()->measure_always(true);
  std::vector<PenultimateNorms> norms(static_cast<std::size_t>(count_batches(chosen.size(), options.batch)));
  visit_plain(images, chosen, options.batch, [&](std::size_t number, const TrainingBatch& inputs) {
    tap.divert(&norms[number]);
    forward(inputs);
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

Evaluation Trainer::evaluate(const data::ImageSet& images, std::span<const Index> chosen, DenseMatrix<double>* scores) {
  constexpr Index kBatch = 250;
  const JudgedNetwork judged(*state_);
  if (scores != nullptr) {
    scores->setZero(static_cast<Index>(chosen.size()), static_cast<Index>(state_->images.classes.size()));
  }
  std::vector<double> losses(static_cast<std::size_t>(count_batches(chosen.size(), kBatch))), correct(losses);
  state_->visit_plain(images, chosen, kBatch, [&](std::size_t number, const TrainingBatch& inputs) {
    const at::Tensor outputs = state_->forward(inputs);
    losses[number] =
        at::cross_entropy_loss(outputs, inputs.labels).item<double>() * static_cast<double>(inputs.labels.size(0));
    correct[number] = static_cast<double>(count_correct(outputs, inputs.labels));
    if (scores != nullptr) copy_scores(outputs, static_cast<Index>(number) * kBatch, *scores);
  });
  // Every process has the rows of its batches, and zeros elsewhere.
  if (scores != nullptr) {
    all_reduce_sum(state_->communicator, std::span(scores->data(), static_cast<std::size_t>(scores->size())));
  }
  all_reduce_sum(state_->communicator, std::span(losses));
  all_reduce_sum(state_->communicator, std::span(correct));
  const auto count = static_cast<double>(chosen.size());
  return {.loss = std::accumulate(losses.begin(), losses.end(), 0.0) / count,
          .accuracy = std::accumulate(correct.begin(), correct.end(), 0.0) / count,
          .count = static_cast<Index>(chosen.size())};
}

}  // namespace lipschitzlr::nn
