// Trainings of networks by 2, 3 and 4 real processes against one process. Each group of processes does all its
// trainings in one run, because starting a process costs more than a training here.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include "dist/processes.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/nn/safetensors.hpp"
#include "lipschitzlr/nn/trainer.hpp"

namespace lipschitzlr::nn {
namespace {

// Pictures of three classes that differ in where they are bright.
data::ImageSet pictures(Index count, const std::string& network) {
  const Index side = network == "mnist-cnn" ? 12 : 8, channels = network == "resnet8-v1" ? 3 : 1;
  data::ImageSet set{.height = side, .width = side, .channels = channels};
  set.classes = {"top", "middle", "bottom"};
  Random random(9);
  for (Index i = 0; i < count; ++i) {
    set.labels.push_back(static_cast<std::int32_t>(i % 3));
    for (Index row = 0; row < set.height; ++row) {
      const bool bright = row * 3 / set.height == i % 3;
      for (Index value = 0; value < set.width * channels; ++value) {
        set.pixels.push_back(static_cast<std::uint8_t>((bright ? 150 : 20) + random.below(80)));
      }
    }
  }
  return set;
}

struct Scenario {
  const char* name;
  Index images;
  int epochs;
  double tolerance;  // 0: only the processes of a group are compared
  TrainerOptions options;
};

Scenario scenario(const char* name, const char* optimizer, Index images, Index batch, int epochs) {
  Scenario made{.name = name, .images = images, .epochs = epochs, .tolerance = 1e-12, .options = {}};
  TrainerOptions& options = made.options;
  options.network = "mlp-16";
  options.optimizer = optimizer;
  options.batch = batch;
  options.controller.rule_options.first_rate = 0.01;
  options.controller.rule_options.decay = 10;  // computed rates are steep for so small a network
  options.augmentation = {.shift = 0.1, .zoom = 0.1, .rotation = 10, .flip = false};
  options.double_precision = true;
  options.threads = 1;
  return made;
}

// Batches of 128 and of 2 images in turn, of which a process in four has 32 and 0 or 1: 40 steps.
std::vector<Scenario> scenarios() {
  std::vector<Scenario> list = {scenario("sgd in step", "sgd", 130, 128, 20),
                                scenario("adamo with weight decay", "adamo", 130, 128, 20),
                                scenario("rmsprop by a pass", "rmsprop", 130, 128, 20),
                                scenario("auto-adam per iteration", "auto-adam", 130, 128, 20),
                                scenario("adam of libtorch", "adam", 256, 128, 5),
                                scenario("batches of 3", "sgd", 30, 3, 4),
                                scenario("single precision", "sgd", 384, 128, 1),
                                scenario("batch norm", "adamo", 72, 16, 2),
                                scenario("dropout", "adamo", 48, 16, 1),
                                scenario("auto", "auto", 130, 128, 20),
                                scenario("auto and batch norm", "auto", 72, 16, 2)};
  list[0].options.network = "softmax";
  list[0].options.controller.rule_options = {};
  list[1].options.weight_decay = list[1].options.controller.l2 = 1e-3;
  list[2].options.measure = Measure::pass;
  list[2].options.controller.rule_options.first_rate = {};
  list[3].options.controller.rule_options.update = rate::Update::per_iteration;
  list[3].options.controller.l2 = 1e-3;
  list[6].options.double_precision = false;
  list[6].tolerance = 1e-6;
  for (const std::size_t other : {7u, 8u, 10u}) list[other].tolerance = 0;
  list[7].options.network = "resnet8-v1";
  list[7].options.buffers_in_weight_norm = true;  // as coded
  list[7].options.controller.l2 = 1e-3;
  list[7].options.measure = Measure::pass;
  list[8].options.network = "mnist-cnn";
  list[8].options.double_precision = false;
  for (const std::size_t automatic : {9u, 10u}) {
    list[automatic].options.controller.rule_options = {};
    list[automatic].options.schedule_epochs = list[automatic].epochs;
  }
  list[10].options.network = "resnet8-v1";
  return list;
}

// Lines of a name and numbers, with all their bits: of every step, of the evaluation, of each tensor at the end.
void train(const Scenario& asked, Communicator* communicator, const std::string& folder, std::ostream& out) {
  const data::ImageSet set = pictures(asked.images, asked.options.network);
  Trainer trainer(asked.options, set, data::all_images(set), communicator);
  out << std::hexfloat;
  for (int epoch = 0; epoch < asked.epochs; ++epoch) {
    trainer.run_epoch([&](const StepReport& step) {
      out << "step " << step.loss << ' ' << step.rate << ' ' << step.penultimate_norm << ' ' << step.accuracy << '\n';
      return true;
    });
    const RateNumbers numbers = trainer.epoch_report().numbers;
    out << "epoch " << numbers.weight_norm << ' ' << numbers.gradient_bound << ' ' << numbers.second_moment << '\n';
  }
  const Evaluation evaluation = trainer.evaluate(set, data::all_images(set));
  out << "evaluation " << evaluation.loss << ' ' << evaluation.accuracy << '\n';
  const std::string path = folder + "/weights-" + std::to_string(communicator ? communicator->rank() : 0);
  trainer.save_weights(path);
  for (const auto& [name, tensor] : load_safetensors(path).tensors) {
    out << name;
    const at::Tensor values = tensor.to(at::kDouble);
    for (Index i = 0; i < values.numel(); ++i) out << ' ' << values.data_ptr<double>()[i];
    out << '\n';
  }
}

// "== name", then its lines; "stopped after" and the step, where only the last process wished to.
LIPSCHITZLR_WORK(trainings) {
  for (const Scenario& one : scenarios()) {
    out << "== " << one.name << '\n';
    train(one, &communicator, test::argument(), out);
  }
  const Scenario stopped = scenario("stop", "sgd", 300, 30, 1);
  const data::ImageSet set = pictures(stopped.images, stopped.options.network);
  Trainer trainer(stopped.options, set, data::all_images(set), &communicator);
  const bool ended = trainer.run_epoch(
      [&](const StepReport& step) { return communicator.rank() != communicator.size() - 1 || step.step < 4; });
  out << "== stop\n" << (ended ? "ended " : "stopped ") << trainer.steps_done() << '\n';
}

using Lines = std::vector<std::string>;

// Of this run of the tests alone; gone with it.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "lipschitzlr-trainings-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error(path_ + ": can't make the folder");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::map<std::string, Lines> by_name(const std::string& text) {
  std::map<std::string, Lines> found;
  std::string name, line;
  for (std::istringstream stream(text); std::getline(stream, line);) {
    if (line.starts_with("== ")) {
      name = line.substr(3);
    } else {
      found[name].push_back(line);
    }
  }
  return found;
}

// What each process of a group of this size wrote; made once.
const std::vector<test::Ended>& written_by(int size) {
  static std::map<int, std::vector<test::Ended>> known;
  auto& ended = known[size];
  if (ended.empty()) {
    const Folder folder;
    ended = test::run_processes(size, "trainings", {.argument = folder.path(), .changes = {}});
  }
  return ended;
}

std::vector<double> numbers_of(const std::string& line) {
  std::vector<double> values;
  const char* at = line.c_str() + line.find(' ');
  for (char* end = nullptr;; at = end) {
    const double value = std::strtod(at, &end);
    if (end == at) return values;
    values.push_back(value);
  }
}

// A line of steps holds numbers of different kinds, each compared with itself; one of weights is compared with the
// largest of its tensor.
void expect_close(const std::string& line, const std::string& expected, double tolerance) {
  const std::string name = expected.substr(0, expected.find(' '));
  const bool weights = name.find('.') != std::string::npos;
  const std::vector<double> ours = numbers_of(line), theirs = numbers_of(expected);
  ASSERT_EQ(ours.size(), theirs.size()) << name;
  double largest = 0;
  for (const double value : theirs) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_NEAR(ours[i], theirs[i], tolerance * (weights ? largest : std::abs(theirs[i]))) << name << ", number " << i;
  }
}

class TrainingInProcesses : public testing::TestWithParam<int> {};

TEST_P(TrainingInProcesses, HasTheSameBitsInAllProcesses) {
  const std::vector<test::Ended>& ended = written_by(GetParam());
  for (const test::Ended& one : ended) {
    ASSERT_EQ(one.exit_code, 0) << one.written.substr(one.written.size() -
                                                      std::min<std::size_t>(one.written.size(), 500));
    EXPECT_TRUE(one.written == ended[0].written) << "other numbers than in rank 0";
  }
}

TEST_P(TrainingInProcesses, HasTheRateLossAndWeightsOfOneProcess) {
  auto found = by_name(written_by(GetParam())[0].written);
  const Folder folder;
  for (const Scenario& one : scenarios()) {
    if (one.tolerance == 0) continue;
    std::ostringstream alone;
    train(one, nullptr, folder.path(), alone);
    const Lines expected = by_name(alone.str())[""];
    const Lines& lines = found[one.name];
    ASSERT_EQ(lines.size(), expected.size()) << one.name;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      SCOPED_TRACE(testing::Message() << one.name << ", line " << i << ": " << expected[i].substr(0, 60));
      expect_close(lines[i], expected[i], one.tolerance);
    }
  }
}

TEST_P(TrainingInProcesses, StopsWhenOneProcessWishesToOneStepLater) {
  EXPECT_EQ(by_name(written_by(GetParam())[0].written)["stop"], Lines{"stopped 5"});
}

INSTANTIATE_TEST_SUITE_P(Processes, TrainingInProcesses, testing::Values(2, 3, 4),
                         [](const auto& given) { return std::to_string(given.param); });

}  // namespace
}  // namespace lipschitzlr::nn
