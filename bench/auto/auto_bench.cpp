// The trainings of the benchmark of automatic methods. compare.py starts this program and sends it one training a line:
//   {"workload": "lenet", "optimizer": "nadamw", "rate": 0.01, "schedule": "linear", "warmup": 0, "weight_decay": 0,
//    "settings": {"beta1": 0.9}, "seed": 1}
// Only workload, optimizer and seed must be there. A hostile start asks for "start" (a factor of the weights), "inputs"
// (a factor of the inputs), "batch" or "labels": "random"; an ablation of auto for "without": ramp, measured, decay,
// guard or average. The answer is one line: the validation losses (and shares of right answers) at twenty places of the
// training, its work in steps and its seconds without evaluation. A loss that is not finite ends a training; what would
// follow is null. With the one word "list" it prints the workloads.

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <numeric>

#include "auto/workloads.hpp"
#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/memory.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/nn/auto.hpp"
#include "lipschitzlr/nn/baseline_optimizers.hpp"
#include "lipschitzlr/nn/evaluation_weights.hpp"
#include "lipschitzlr/nn/process.hpp"

namespace {

using namespace lipschitzlr;
using namespace lipschitzlr::bench;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kPlaces = 20;            // of evaluation in a training
constexpr std::int64_t kStatisticBatches = 20;  // that refresh batch norm's statistics where other weights are judged
constexpr double kForward = 1.0 / 3;            // of a step's work

// Rows in an order that is shuffled anew whenever it is used up.
class Order {
 public:
  Order(std::int64_t rows, std::uint64_t seed) : rows_(static_cast<std::size_t>(rows)), random_(seed) {
    std::iota(rows_.begin(), rows_.end(), std::int64_t{0});
    random_.shuffle(std::span(rows_));
  }
  at::Tensor next(std::int64_t count) {
    std::vector<std::int64_t> batch;
    while (std::ssize(batch) < count) {
      if (at_ == rows_.size()) {
        random_.shuffle(std::span(rows_));
        at_ = 0;
      }
      batch.push_back(rows_[at_++]);
    }
    return torch::tensor(batch);
  }
  Random& random() { return random_; }

 private:
  std::vector<std::int64_t> rows_;
  std::size_t at_ = 0;
  Random random_;
};

at::Tensor augmented(const at::Tensor& images, Random& random) {
  std::vector<at::Tensor> all;
  const at::Tensor padded = torch::constant_pad_nd(images, {2, 2, 2, 2});
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    const auto top = static_cast<std::int64_t>(random.below(5)), left = static_cast<std::int64_t>(random.below(5));
    const at::Tensor image = padded[i].slice(1, top, top + images.size(2)).slice(2, left, left + images.size(3));
    all.push_back(random.below(2) == 0 ? image : image.flip(2));
  }
  return torch::stack(all);
}

struct Judgement {
  double loss = 0, right = 0;
};

Data random_labels(Data data) {
  torch::manual_seed(1);
  data.train_targets = torch::randint(data.classes, data.train_targets.sizes(), torch::kLong);
  data.valid_targets = torch::randint(data.classes, data.valid_targets.sizes(), torch::kLong);
  return data;
}

// The validation loss of the best constant outputs for the training targets.
double constant_loss(Loss loss, const Data& data) {
  at::Tensor best;
  if (data.classes > 0) {
    best = torch::bincount(data.train_targets.flatten(), {}, data.classes).to(torch::kFloat).clamp_min(0.5).log();
  } else {
    best = data.train_targets.mean(0);
    if (loss == Loss::binary_cross_entropy) best = torch::logit(best, 1e-6);
  }
  const std::int64_t rows = data.classes > 0 ? data.valid_targets.numel() : data.valid_targets.size(0);
  return loss_of(loss, best.expand({rows, best.numel()}), data.valid_targets).item<double>();
}

class Training {
 public:
  Training(const Workload& what, const Data& data, const json& wish)
      : what_(what),
        data_(data),
        batch_(wish.value("batch", what.batch)),
        input_scale_(wish.value("inputs", 1.0)),
        order_(data.train_inputs.size(0), wish.at("seed").get<std::uint64_t>()) {
    torch::manual_seed(wish.at("seed").get<std::uint64_t>());
    model_ = what.model(data);
    {
      const torch::NoGradGuard no_grad;
      for (at::Tensor& parameter : model_->parameters()) parameter.mul_(what.start_scale * wish.value("start", 1.0));
    }
    const auto name = wish.at("optimizer").get<std::string>();
    if (name != "auto") {
      optimizer_ = nn::make_baseline(name, model_->parameters(), options(wish));
      return;
    }
    const std::string without = wish.value("without", "");
    guarded_ = without != "guard";
    averages_ = without != "average";
    const nn::AutoOptions known{.total_steps = static_cast<std::uint64_t>(what.steps),
                                .parts = {.ramp = without != "ramp",
                                          .measured = without != "measured",
                                          .decay = without != "decay",
                                          .guard = guarded_}};
    optimizer_ = std::make_unique<nn::Auto>(*model_, model_->head, known);
    automatic_ = dynamic_cast<nn::Auto*>(optimizer_.get());
  }

  json run() {
    json losses = json::array(), rights = json::array();
    bool finite = true;
    for (std::int64_t place = 1; place <= kPlaces; ++place) {
      for (const std::int64_t end = what_.steps * place / kPlaces; finite && steps_ < end;) finite = step();
      const Judgement seen = finite ? best_judgement() : Judgement{NAN, NAN};
      losses.push_back(std::isfinite(seen.loss) ? json(seen.loss) : json());
      if (data_.classes > 0) rights.push_back(std::isfinite(seen.right) ? json(seen.right) : json());
    }
    json answer = {
        {"steps", what_.steps}, {"losses", losses}, {"accuracies", rights}, {"work", work_}, {"seconds", seconds_}};
    if (automatic_ != nullptr) {
      const rate::AutoNumbers& numbers = automatic_->rule().numbers();
      answer["rollbacks"] = numbers.rollbacks;
      answer["head_excesses"] = numbers.head_excesses;
      if (!losses.back().is_null()) {
        const double constant = constant_loss(what_.loss, data_);
        answer["shortfall"] = automatic_->rule().shortfall(losses.back().get<double>(), constant);
      }
    }
    return answer;
  }

 private:
  nn::BaselineOptions options(const json& wish) const {
    nn::BaselineOptions options;
    if (wish.contains("rate")) options.rate = wish.at("rate").get<double>();
    options.schedule = rate::schedule_from(wish.value("schedule", "constant"));
    options.schedule_steps = static_cast<std::uint64_t>(what_.steps);
    options.warmup_steps = static_cast<std::uint64_t>(wish.value("warmup", 0.0) * static_cast<double>(what_.steps));
    options.weight_decay = wish.value("weight_decay", 0.0);
    options.settings = wish.value("settings", nn::OptimizerSettings{});
    return options;
  }

  at::Tensor batch_loss() {
    const at::Tensor rows = order_.next(batch_);
    at::Tensor inputs = data_.train_inputs.index_select(0, rows);
    if (what_.augmented) inputs = augmented(inputs, order_.random());
    return loss_of(what_.loss, outputs(inputs), data_.train_targets.index_select(0, rows));
  }

  at::Tensor outputs(const at::Tensor& inputs) {
    return model_->forward(input_scale_ == 1 ? inputs : inputs * input_scale_);
  }

  // Whether there is anything to continue from.
  bool step() {
    const auto start = Clock::now();
    optimizer_->zero_grad();
    const at::Tensor loss = batch_loss();
    loss.backward();
    const double value = loss.item<double>();
    bool goes_on = std::isfinite(value) || (automatic_ != nullptr && guarded_);  // it goes back by itself
    try {
      if (goes_on) optimizer_->step(value);
    } catch (const Error& error) {
      if (error.fault() != Fault::training) throw;
      goes_on = false;  // it has gone back as often as it may
    }
    ++steps_;
    work_ += 1;
    seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
    return goes_on;
  }

  // As `train` does: of the weights of auto and their average the better ones count.
  Judgement best_judgement() {
    const Judgement trained = judge();
    if (automatic_ == nullptr || !averages_) return trained;
    automatic_->use_average(true);
    const Judgement averaged = judge();
    automatic_->use_average(false);
    return averaged.loss < trained.loss ? averaged : trained;
  }

  Judgement judge() {
    const torch::NoGradGuard no_grad;
    const nn::EvaluationWeights now(*optimizer_);
    std::vector<at::Tensor> kept;
    for (const at::Tensor& buffer : model_->buffers()) kept.push_back(buffer.clone());
    if (now.differ() && !kept.empty()) refresh_statistics();
    model_->eval();
    constexpr std::int64_t kBatch = 500;
    const std::int64_t count = data_.valid_inputs.size(0);
    Judgement all;
    for (std::int64_t begin = 0; begin < count; begin += kBatch) {
      const at::Tensor targets = data_.valid_targets.slice(0, begin, std::min(begin + kBatch, count));
      const at::Tensor seen = outputs(data_.valid_inputs.slice(0, begin, std::min(begin + kBatch, count)));
      const auto share = static_cast<double>(targets.size(0)) / static_cast<double>(count);
      all.loss += share * loss_of(what_.loss, seen, targets).item<double>();
      if (data_.classes == 0) continue;
      all.right += share * (seen.argmax(1) == targets.flatten()).to(torch::kDouble).mean().item<double>();
    }
    model_->train();
    const auto buffers = model_->buffers();
    for (std::size_t i = 0; i < kept.size(); ++i) at::Tensor(buffers[i]).copy_(kept[i]);
    return all;
  }

  // Batch norm keeps 0.9 of the past by itself: some passes with the weights to be judged, only its layers in training
  // mode. They are work, once, as only the last judgement is needed; their batches come from an order of their own.
  void refresh_statistics() {
    model_->eval();
    for (const auto& module : model_->modules()) {
      if (auto* const norm = module->as<torch::nn::BatchNorm2d>()) norm->train();
    }
    Order order(data_.train_inputs.size(0), 1);
    for (std::int64_t i = 0; i < kStatisticBatches; ++i) {
      outputs(data_.train_inputs.index_select(0, order.next(batch_)));
    }
    if (steps_ == what_.steps) work_ += kStatisticBatches * kForward;
  }

  const Workload& what_;
  const Data& data_;
  const std::int64_t batch_;
  const double input_scale_;
  Order order_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  nn::Auto* automatic_ = nullptr;          // the optimizer, when it is auto
  bool guarded_ = true, averages_ = true;  // its parts
  std::int64_t steps_ = 0;
  double work_ = 0, seconds_ = 0;
};

void list() {
  for (const Workload& one : workloads()) {
    std::cout << json{{"name", one.name},
                      {"what", one.what},
                      {"held_out", one.held_out},
                      {"steps", one.steps},
                      {"batch", one.batch}}
                     .dump()
              << "\n";
  }
}

void serve() {
  std::map<std::string, Data> data;
  for (std::string line; std::getline(std::cin, line);) {
    const json wish = parse_json(line, "the training asked for");
    const Workload& what = workload(wish.at("workload").get<std::string>());
    auto found = data.find(what.name);
    if (found == data.end()) {
      data.clear();  // one at a time
      found = data.emplace(what.name, what.data()).first;
    }
    const bool at_random = wish.value("labels", "") == "random";
    const Data& examples = at_random ? random_labels(found->second) : found->second;
    json answer = Training(what, examples, wish).run();
    answer["constant_loss"] = constant_loss(what.loss, examples);
    std::cout << answer.dump() << std::endl;  // at once: somebody waits for it
  }
}

}  // namespace

int main(int count, char** arguments) {
  keep_memory();  // as lipschitzlr-torch does
  nn::use_cores(1);
  try {
    if (count == 2 && std::string(arguments[1]) == "list") {
      list();
    } else if (count == 1) {
      serve();
    } else {
      fmt::print(stderr, "usage: auto_bench [list]; it is called by compare.py\n");
      return 2;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", nn::libtorch_complaint(error));
    return 1;
  }
  return 0;
}
