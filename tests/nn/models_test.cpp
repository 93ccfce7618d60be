#include "lipschitzlr/nn/models.hpp"

#include <gtest/gtest.h>
#include <torch/nn/functional.h>

#include <map>

#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/nn/optimizers.hpp"
#include "lipschitzlr/nn/safetensors.hpp"

namespace lipschitzlr::nn {
namespace {

NetworkOptions cifar(Index classes = 10) {
  NetworkOptions options;
  options.classes = classes;
  return options;
}

NetworkOptions mnist() {
  NetworkOptions options;
  options.channels = 1;
  options.height = options.width = 28;
  return options;
}

Index parameters(const Network& network) {
  Index count = 0;
  for (const torch::Tensor& parameter : network.parameters()) count += parameter.numel();
  return count;
}

struct Counted {
  std::string name;
  NetworkOptions options;
  Index parameters;
};

class EveryNetwork : public testing::TestWithParam<Counted> {};

// The counts were computed once by a Python script that adds up kernel, bias, gamma and beta sizes layer by layer from
// the description in the paper and in method.md 4.8; Keras's total also counts running means and variances.
TEST_P(EveryNetwork, HasItsParametersAndGivesScores) {
  const Counted& given = GetParam();
  const auto network = make_network(given.name, given.options);
  EXPECT_EQ(parameters(*network), given.parameters);
  const torch::NoGradGuard no_grad;
  network->eval();
  const torch::Tensor images = torch::rand({2, given.options.channels, given.options.height, given.options.width});
  const torch::Tensor scores = network->forward(images);
  EXPECT_EQ(scores.sizes(), (std::vector<Index>{2, given.options.classes}));
  EXPECT_TRUE(torch::isfinite(scores).all().item<bool>());
  const torch::Tensor other_format = network->forward(images.contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::allclose(scores, other_format, 1e-3, 1e-3));
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryNetwork,
    testing::Values(Counted{"mnist-cnn", mnist(), 730346}, Counted{"resnet20-v1", cifar(), 273066},
                    Counted{"resnet32-v1", cifar(), 467946}, Counted{"resnet44-v1", cifar(), 662826},
                    Counted{"resnet56-v1", cifar(), 857706}, Counted{"resnet110-v1", cifar(), 1734666},
                    Counted{"resnet56-v2", cifar(), 1663338}, Counted{"resnet110-v2", cifar(), 3302442},
                    Counted{"resnet164-v2", cifar(100), 4964676}, Counted{"densenet-40-12", cifar(), 1059298},
                    Counted{"densenet-40-12", cifar(100), 1100428}, Counted{"densenet-40-12-12", cifar(100), 1040080},
                    Counted{"mlp-20-10", mnist(), 784 * 20 + 20 + 20 * 10 + 10 + 10 * 10 + 10},
                    Counted{"softmax", mnist(), 7850}));

TEST(Networks, RefuseWhatCannotBeBuilt) {
  for (const char* name : {"resnet21-v1", "resnet21-v2", "resnet-v1", "densenet-41-12", "densenet-40", "mlp-", "mlp-0",
                           "lenet", "", "resnet20-v1x", "resnet99999-v1"}) {
    EXPECT_THROW(make_network(name, cifar()), Error) << name;
  }
  NetworkOptions tiny = mnist();
  tiny.height = 8;
  EXPECT_THROW(make_network("mnist-cnn", tiny), Error);
  NetworkOptions no_output = mnist();
  no_output.classes = 0;
  EXPECT_THROW(make_network("softmax", no_output), Error);
  NetworkOptions normed = mnist();
  normed.batch_norm_momentum = 0.5;
  EXPECT_NO_THROW(make_network("mnist-cnn", normed));
  EXPECT_THROW(make_network("mlp-8", normed), Error);
  EXPECT_THROW(padding_from("same"), Error);
}

TEST(Networks, ListTheirLayersInTheOrderKerasMakesThem) {
  std::map<LayerKind, int> counts;
  std::vector<std::string> names;
  for (const Layer& layer : make_network("resnet20-v1", cifar())->layers()) {
    ++counts[layer.kind];
    if (layer.kind == LayerKind::convolution) names.push_back(layer.name);
  }
  EXPECT_EQ(counts[LayerKind::convolution], 21);  // 19 of 3x3 and two shortcuts
  EXPECT_EQ(counts[LayerKind::batch_norm], 19);
  EXPECT_EQ(counts[LayerKind::dense], 1);
  EXPECT_EQ(names[7], "stage1_block0.conv1");
  EXPECT_EQ(names[8], "stage1_block0.conv2");
  EXPECT_EQ(names[9], "stage1_block0.shortcut");
}

TEST(Networks, StartHeNormalFromTheSeed) {
  const auto one = make_network("resnet20-v1", cifar()), same = make_network("resnet20-v1", cifar());
  NetworkOptions other_seed = cifar();
  other_seed.seed = 2;
  const auto other = make_network("resnet20-v1", other_seed);
  const NamedTensors a = named_weights(*one), b = named_weights(*same), c = named_weights(*other);
  EXPECT_TRUE(torch::equal(a[0].second, b[0].second));
  EXPECT_FALSE(torch::equal(a[0].second, c[0].second));
  for (const Layer& layer : one->layers()) {
    if (layer.name != "stage2_block1.conv1") continue;
    const torch::Tensor& weight = layer.tensors[0].second;
    const double deviation = std::sqrt(2.0 / (9 * 64));
    EXPECT_NEAR(weight.std().item<double>(), deviation, 0.01 * deviation);
    EXPECT_LE(weight.abs().max().item<double>(), 2 * deviation / 0.8796 + 1e-6);
    EXPECT_EQ(layer.tensors[1].second.abs().max().item<double>(), 0);
  }
}

TEST(Networks, DenseLayersStartGlorotUniformWhereAsked) {
  NetworkOptions options = cifar();
  options.dense_start = DenseStart::glorot;
  const auto glorot = make_network("mnist-cnn", options), usual = make_network("mnist-cnn", cifar());
  const std::vector<Layer> layers = glorot->layers(), others = usual->layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const torch::Tensor& weight = layers[i].tensors[0].second;
    if (layers[i].kind == LayerKind::convolution) {
      EXPECT_TRUE(torch::equal(weight, others[i].tensors[0].second)) << layers[i].name;
    }
    if (layers[i].kind != LayerKind::dense) continue;
    const double limit = std::sqrt(6.0 / static_cast<double>(weight.size(0) + weight.size(1)));
    EXPECT_LE(weight.abs().max().item<double>(), limit * (1 + 1e-6)) << layers[i].name;
    EXPECT_GT(weight.abs().max().item<double>(), 0.98 * limit) << layers[i].name;
    EXPECT_NEAR(weight.std().item<double>(), limit / std::sqrt(3.0), 0.05 * limit) << layers[i].name;
    EXPECT_EQ(layers[i].tensors[1].second.abs().max().item<double>(), 0);
  }
}

TEST(Networks, PaddingDiffersOnlyWhereAStrideIs) {
  const torch::NoGradGuard no_grad;
  NetworkOptions symmetric = cifar();
  symmetric.padding = Padding::symmetric;
  const torch::Tensor images = torch::rand({2, 3, 32, 32});
  const auto scores = [&](const std::string& name, const NetworkOptions& options) {
    const auto network = make_network(name, options);
    network->eval();
    return network->forward(images);
  };
  EXPECT_FALSE(torch::allclose(scores("resnet20-v1", cifar()), scores("resnet20-v1", symmetric)));
  // Its strides are at 1x1 convolutions, which pad nothing.
  EXPECT_TRUE(torch::allclose(scores("resnet56-v2", cifar()), scores("resnet56-v2", symmetric)));
}

TEST(Networks, OddSizesPadAsTensorFlowDoes) {
  NetworkOptions odd = cifar();
  odd.height = odd.width = 9;
  NetworkOptions odd_symmetric = odd;
  odd_symmetric.padding = Padding::symmetric;
  const torch::NoGradGuard no_grad;
  const torch::Tensor images = torch::rand({1, 3, 9, 9});
  const auto a = make_network("resnet8-v1", odd), b = make_network("resnet8-v1", odd_symmetric);
  a->eval();
  b->eval();
  // 9 to 5 to 3: with stride 2 an odd size misses two pixels, one on either side.
  EXPECT_TRUE(torch::allclose(a->forward(images), b->forward(images)));
}

TEST(Networks, PenalizeWhatTheAuthorsDid) {
  EXPECT_EQ(make_network("resnet20-v1", cifar())->penalized().size(), 21u);
  EXPECT_EQ(make_network("densenet-40-12", cifar())->penalized().size(), 3u);
  EXPECT_TRUE(make_network("mnist-cnn", mnist())->penalized().empty());
}

TEST(Networks, WeightsGoThroughSafetensorsBitForBit) {
  const std::string path = testing::TempDir() + "/network.safetensors";
  const auto network = make_network("resnet8-v1", cifar());
  save_safetensors(path, named_weights(*network));
  const NamedTensors read = load_safetensors(path).tensors, own = named_weights(*network);
  ASSERT_EQ(read.size(), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(read[i].first, own[i].first);
    EXPECT_TRUE(torch::equal(read[i].second, own[i].second)) << own[i].first;
  }
}

// Paper, section 5.3: a network without hidden layers is softmax regression. Same data, same start, each with the rate
// it computes itself.
TEST(SoftmaxNetwork, FollowsSoftmaxRegressionStepByStep) {
  constexpr Index kRows = 60, kFeatures = 6, kClasses = 3, kSteps = 25;
  NetworkOptions options;
  options.channels = 1;
  options.height = 2;
  options.width = 3;
  options.classes = kClasses;
  ThreadPool pool(1);
  const auto problem = linear::random_problem(linear::Family::softmax, pool, kRows, kFeatures);
  linear::Weights<double> w = problem->zero_weights(), gradient;
  const double rate = problem->constant(linear::ConstantKind::published).rate();

  const DenseMatrix<double> x = std::get<DenseMatrix<double>>(problem->matrix());
  const Vector<double>& y = problem->targets();
  const torch::Tensor images =
      torch::from_blob(const_cast<double*>(x.data()), {kRows, 1, 2, 3}, torch::kDouble).to(torch::kFloat);
  const torch::Tensor labels =
      torch::from_blob(const_cast<double*>(y.data()), {kRows}, torch::kDouble).to(torch::kLong);
  const auto network = make_network("softmax", options);
  // Without the bias, which the linear model has no column for.
  LipschitzSGD optimizer({network->head()->weight}, network->head());
  for (Index step = 0; step < kSteps; ++step) {
    network->zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(network->forward(images), labels);
    loss.backward();
    optimizer.step();
    EXPECT_NEAR(loss.item<double>(), problem->evaluate(w, gradient), 1e-5);
    EXPECT_NEAR(optimizer.controller().rate(), rate, 1e-6 * rate);
    w -= rate * gradient;
    for (Index i = 0; i < kFeatures; ++i) {
      for (Index k = 0; k < kClasses; ++k) {
        ASSERT_NEAR(network->head()->weight[k][i].item<double>(), w(i, k), 1e-5) << "step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace lipschitzlr::nn
