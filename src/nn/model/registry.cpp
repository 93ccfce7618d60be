#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "lipschitzlr/base/error.hpp"
#include "nn/model/families.hpp"

namespace lipschitzlr::nn {
namespace {

using Numbers = std::vector<Index>;

// A name with numbers in it: "resnet#-v1" takes one, "mlp*" any number of them, each after a dash.
struct Family {
  std::string pattern;
  NetworkInfo info;
  Index smallest_image;
  bool has_batch_norm;
  std::function<std::shared_ptr<Network>(const Numbers&, const NetworkOptions&)> make;
};

[[noreturn]] void refuse_model(const std::string& sentence) { throw Error(Fault::usage, sentence); }

// The n of depth = factor n + 2.
Index blocks_of(Index depth, Index factor) {
  if (depth < factor + 2 || (depth - 2) % factor != 0) {
    refuse_model(fmt::format("a ResNet of depth {} can't be built: {}n+2 gives {}, {}, {} ...", depth, factor,
                             factor + 2, 2 * factor + 2, 3 * factor + 2));
  }
  return (depth - 2) / factor;
}

Index layers_of(Index depth) {
  if (depth < 7 || (depth - 4) % 3 != 0) {
    refuse_model(fmt::format("a DenseNet of depth {} can't be built: 3n+4 gives 7, 10, ... 40 ...", depth));
  }
  return (depth - 4) / 3;
}

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {"mnist-cnn",
       {"mnist-cnn", "the paper's CNN for MNIST, 730K parameters"},
       12,
       true,
       [](const Numbers&, const NetworkOptions& o) { return make_mnist_cnn(o); }},
      {"resnet#-v1",
       {"resnetN-v1", "residual network of depth N = 6n+2: 20, 32, 44, 56, 110"},
       4,
       true,
       [](const Numbers& n, const NetworkOptions& o) { return make_resnet_v1(blocks_of(n[0], 6), o); }},
      {"resnet#-v2",
       {"resnetN-v2", "with pre-activation bottlenecks, depth N = 9n+2: 56, 110, 164"},
       4,
       true,
       [](const Numbers& n, const NetworkOptions& o) { return make_resnet_v2(blocks_of(n[0], 9), o); }},
      {"densenet-#-#",
       {"densenet-N-K", "DenseNet of depth N = 3n+4 and growth K: densenet-40-12"},
       4,
       true,
       [](const Numbers& n, const NetworkOptions& o) { return make_densenet(layers_of(n[0]), n[1], 2 * n[1], o); }},
      {"densenet-#-#-#",
       {"densenet-N-K-F", "the same with F filters in the first convolution, which are 2K otherwise"},
       4,
       true,
       [](const Numbers& n, const NetworkOptions& o) { return make_densenet(layers_of(n[0]), n[1], n[2], o); }},
      {"mlp*",
       {"mlp-N-...", "a perceptron with hidden ReLU layers of N, ... units: mlp-256-128"},
       1,
       false,
       [](const Numbers& n, const NetworkOptions& o) { return make_perceptron(n.empty() ? Numbers{256} : n, o); }},
      {"softmax",
       {"softmax", "softmax regression as a network of one layer, started at zero"},
       1,
       false,
       [](const Numbers&, const NetworkOptions& o) { return make_softmax(o); }},
  };
  return list;
}

// Takes a number of one to four digits off the front.
bool take_number(std::string_view& text, Numbers& numbers) {
  Index number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + std::min<std::size_t>(4, text.size()), number);
  if (fault != std::errc() || number < 1) return false;
  numbers.push_back(number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool matches(std::string_view name, std::string_view pattern, Numbers& numbers) {
  for (const char sign : pattern) {
    if (sign == '#') {
      if (!take_number(name, numbers)) return false;
    } else if (sign == '*') {
      while (!name.empty()) {
        if (name.front() != '-') return false;
        name.remove_prefix(1);
        if (!take_number(name, numbers)) return false;
      }
    } else {
      if (name.empty() || name.front() != sign) return false;
      name.remove_prefix(1);
    }
  }
  return name.empty();
}

void check_options(const std::string& name, const Family& family, const NetworkOptions& options) {
  if (options.height == 1 && options.width == 1 && family.smallest_image > 1) {
    refuse_model(fmt::format("{} is a network for images; for a table take mlp-64-64 or softmax", name));
  }
  if (std::min(options.height, options.width) < family.smallest_image) {
    refuse_model(fmt::format("{} needs images of at least {}x{} pixels, these have {}x{}", name, family.smallest_image,
                             family.smallest_image, options.height, options.width));
  }
  if (options.classes < 1) refuse_model(fmt::format("{} needs at least one output", name));
  if (options.channels < 1) refuse_model("images need at least one channel");
  if ((options.batch_norm_epsilon || options.batch_norm_momentum) && !family.has_batch_norm)
    refuse_model(fmt::format("{} has no batch norm, whose epsilon or momentum is given; leave it out", name));
  if (options.batch_norm_epsilon && !(*options.batch_norm_epsilon > 0))
    refuse_model("batch norm's epsilon must be above 0");
  if (const auto momentum = options.batch_norm_momentum; momentum && !(*momentum >= 0 && *momentum < 1)) {
    refuse_model("batch norm's momentum, the weight of the past, must be at least 0 and below 1");
  }
}

}  // namespace

std::string to_string(Padding padding) { return padding == Padding::tensorflow ? "tensorflow" : "symmetric"; }

Padding padding_from(const std::string& name) {
  if (name == "tensorflow") return Padding::tensorflow;
  if (name == "symmetric") return Padding::symmetric;
  refuse_model(fmt::format("there is no padding \"{}\"; known are tensorflow, symmetric", name));
}

std::vector<NetworkInfo> networks() {
  std::vector<NetworkInfo> list;
  for (const Family& family : families()) list.push_back(family.info);
  return list;
}

std::shared_ptr<Network> make_network(const std::string& name, const NetworkOptions& options) {
  for (const Family& family : families()) {
    Numbers numbers;
    if (!matches(name, family.pattern, numbers)) continue;
    check_options(name, family, options);
    return family.make(numbers, options);
  }
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.info.name);
  refuse_model(fmt::format("there is no network \"{}\"; known are {}", name, fmt::join(names, ", ")));
}

}  // namespace lipschitzlr::nn
