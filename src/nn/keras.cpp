#include "lipschitzlr/nn/keras.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "nn/keras_file.hpp"
#include "nn/keras_order.hpp"

namespace lipschitzlr::nn {
namespace {

using Shape = std::vector<std::int64_t>;

// One tensor of a layer: its name there and here, and the number that a layer without it behaves as if it had.
struct Role {
  std::string in_file;
  std::string in_network;
  std::optional<double> neutral;
};

struct Recipe {
  LayerKind kind;
  Shape turn;               // axes of the file's first tensor in the order of the network's
  std::vector<Role> roles;  // the first and its dimensions tell the kind
};

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = {
      {LayerKind::convolution, {3, 2, 0, 1}, {{"kernel", "weight", {}}, {"bias", "bias", 0.0}}},
      {LayerKind::batch_norm,
       {0},
       {{"moving_mean", "running_mean", {}},
        {"moving_variance", "running_var", {}},
        {"gamma", "weight", 1.0},
        {"beta", "bias", 0.0}}},
      {LayerKind::dense, {1, 0}, {{"kernel", "weight", {}}, {"bias", "bias", 0.0}}}};
  return all;
}

const KerasTensor* find(const KerasLayer& layer, const std::string& name) {
  const auto found = std::find_if(layer.tensors.begin(), layer.tensors.end(),
                                  [&](const KerasTensor& tensor) { return tensor.name == name; });
  return found == layer.tensors.end() ? nullptr : &*found;
}

at::Tensor find(const Layer& layer, const std::string& name) {
  for (const auto& [own_name, tensor] : layer.tensors) {
    if (own_name == name) return tensor;
  }
  return {};
}

bool follows(const KerasLayer& layer, const Recipe& recipe) {
  const KerasTensor* first = find(layer, recipe.roles.front().in_file);
  if (first == nullptr || first->shape.size() != recipe.turn.size()) return false;
  return std::all_of(layer.tensors.begin(), layer.tensors.end(), [&](const KerasTensor& tensor) {
    return std::any_of(recipe.roles.begin(), recipe.roles.end(),
                       [&](const Role& role) { return role.in_file == tensor.name; });
  });
}

std::string text(at::IntArrayRef shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// One tensor that goes from the file to the network, with either end missing where a neutral number stands for it.
struct Transfer {
  const KerasTensor* source = nullptr;
  at::Tensor target;
  Shape turn;
  double neutral = 0;
  std::string source_name, target_name;
  std::vector<double> numbers;
};

class Matcher {
 public:
  Matcher(const std::string& path, const std::vector<Layer>& layers) : file_(path), layers_(layers) {}

  KerasReport load() {
    for (const KerasLayer& layer : file_.layers()) check_known(layer);
    for (const Recipe& recipe : recipes()) match(recipe);
    read();
    const at::NoGradGuard no_grad;
    for (Transfer& transfer : transfers_) write(transfer);
    return report_;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(Fault::data,
                fmt::format("{}: these weights do not fit the network: {}; the file has {}, the network {}",
                            file_.path(), reason, count_by_kind(true), count_by_kind(false)));
  }

  std::vector<const KerasLayer*> in_file(const Recipe& recipe) const {
    std::vector<const KerasLayer*> list;
    for (const KerasLayer& layer : file_.layers()) {
      if (follows(layer, recipe)) list.push_back(&layer);
    }
    return list;
  }

  std::vector<const Layer*> in_network(const Recipe& recipe) const {
    std::vector<const Layer*> list;
    for (const Layer& layer : layers_) {
      if (layer.kind == recipe.kind) list.push_back(&layer);
    }
    return list;
  }

  std::string count_by_kind(bool of_file) const {
    std::vector<std::string> counts;
    for (const Recipe& recipe : recipes()) {
      const std::size_t count = of_file ? in_file(recipe).size() : in_network(recipe).size();
      counts.push_back(counted(count, to_string(recipe.kind)));
    }
    return fmt::format("{}, {} and {}", counts[0], counts[1], counts[2]);
  }

  void check_known(const KerasLayer& layer) {
    for (const Recipe& recipe : recipes()) {
      if (follows(layer, recipe)) return;
    }
    std::vector<std::string> tensors;
    for (const KerasTensor& tensor : layer.tensors) tensors.push_back(tensor.name + " " + text(tensor.shape));
    // Whole numbers are the state of something random or counted, such as a dropout's seed: no weights.
    if (std::none_of(layer.tensors.begin(), layer.tensors.end(), [](const auto& tensor) { return tensor.floating; })) {
      report_.unmatched_file.push_back(fmt::format("{}: {}, no weights", layer.name, fmt::join(tensors, ", ")));
      return;
    }
    fail(fmt::format("{} ({}) is neither a convolution nor a batch norm nor a dense layer", layer.name,
                     fmt::join(tensors, ", ")));
  }

  void match(const Recipe& recipe) {
    const std::vector<const KerasLayer*> sources = in_file(recipe);
    const std::vector<const Layer*> targets = in_network(recipe);
    std::vector<std::string> names;
    for (const KerasLayer* source : sources) names.push_back(source->name);
    std::vector<std::size_t> order = creation_order(names);
    const std::optional<std::string> misfit = first_misfit(recipe, sources, order, targets);
    if (misfit) {
      std::iota(order.begin(), order.end(), std::size_t{0});
      if (first_misfit(recipe, sources, order, targets)) fail(*misfit);
    }
    for (std::size_t i = 0; i < targets.size(); ++i) plan(recipe, *sources[order[i]], *targets[i]);
  }

  static std::optional<std::string> first_misfit(const Recipe& recipe, const std::vector<const KerasLayer*>& sources,
                                                 const std::vector<std::size_t>& order,
                                                 const std::vector<const Layer*>& targets) {
    for (std::size_t i = 0; i < std::min(order.size(), targets.size()); ++i) {
      if (auto reason = misfit(recipe, *sources[order[i]], *targets[i])) return reason;
    }
    if (order.size() > targets.size()) {
      return fmt::format("{} has no place in it", sources[order[targets.size()]]->name);
    }
    if (order.size() < targets.size()) return fmt::format("nothing is there for {}", targets[order.size()]->name);
    return std::nullopt;
  }

  static std::optional<std::string> misfit(const Recipe& recipe, const KerasLayer& source, const Layer& target) {
    for (const Role& role : recipe.roles) {
      const KerasTensor* given = find(source, role.in_file);
      const at::Tensor wanted = find(target, role.in_network);
      const std::string place = fmt::format("{}.{}", target.name, role.in_network);
      if (given == nullptr && wanted.defined() && !role.neutral) {
        return fmt::format("{} has no {} for {}", source.name, role.in_file, place);
      }
      if (given == nullptr) continue;
      const std::string name = fmt::format("{}/{}", source.name, role.in_file);
      if (!given->floating) return fmt::format("{} are not floating-point numbers", name);
      if (!wanted.defined() && !role.neutral) return fmt::format("{} has no place in {}", name, target.name);
      const Shape shape = turned_shape(recipe, role, *given);
      // What has no place of its own must at least have one number for every output.
      const Shape fitting = wanted.defined() ? wanted.sizes().vec() : Shape{outputs(recipe, target)};
      if (shape == fitting) continue;
      return shape == given->shape ? fmt::format("{} is {} and {} is {}", name, text(shape), place, text(fitting))
                                   : fmt::format("{} is {}, which makes {} here, and {} is {}", name,
                                                 text(given->shape), text(shape), place, text(fitting));
    }
    return std::nullopt;
  }

  static Shape turned_shape(const Recipe& recipe, const Role& role, const KerasTensor& tensor) {
    if (role.in_file != recipe.roles.front().in_file) return tensor.shape;
    Shape shape;
    for (const std::int64_t axis : recipe.turn) shape.push_back(tensor.shape[static_cast<std::size_t>(axis)]);
    return shape;
  }

  static std::int64_t outputs(const Recipe& recipe, const Layer& layer) {
    return find(layer, recipe.roles.front().in_network).size(0);
  }

  void plan(const Recipe& recipe, const KerasLayer& source, const Layer& target) {
    report_.matched.push_back(source.name + " -> " + target.name);
    for (const Role& role : recipe.roles) {
      Transfer transfer{.source = find(source, role.in_file),
                        .target = find(target, role.in_network),
                        .turn = {},
                        .neutral = role.neutral.value_or(0),
                        .source_name = source.name + "/" + role.in_file,
                        .target_name = target.name + "." + role.in_network,
                        .numbers = {}};
      if (&role == &recipe.roles.front()) transfer.turn = recipe.turn;
      if (transfer.source != nullptr || transfer.target.defined()) transfers_.push_back(std::move(transfer));
    }
  }

  void read() {
    std::vector<KerasTensor> wanted;
    for (const Transfer& transfer : transfers_) {
      if (transfer.source != nullptr) wanted.push_back(*transfer.source);
    }
    std::vector<std::vector<double>> numbers = file_.read(wanted);
    std::size_t next = 0;
    for (Transfer& transfer : transfers_) {
      if (transfer.source != nullptr) transfer.numbers = std::move(numbers[next++]);
      check(transfer);
    }
  }

  // What has no tensor at one end is neutral there, and said.
  void check(const Transfer& transfer) {
    if (transfer.source == nullptr) {
      report_.unmatched_network.push_back(fmt::format("{}: set to {}, as a layer of the file without {} has it",
                                                      transfer.target_name, transfer.neutral, transfer.source_name));
      return;
    }
    if (transfer.target.defined()) return;
    const auto is_neutral = [&](double number) { return number == transfer.neutral; };
    if (!std::all_of(transfer.numbers.begin(), transfer.numbers.end(), is_neutral)) {
      fail(fmt::format("{} is not {} throughout and {} is not there to take it", transfer.source_name, transfer.neutral,
                       transfer.target_name));
    }
    report_.unmatched_file.push_back(fmt::format("{}: {} throughout, so {} is not missed", transfer.source_name,
                                                 transfer.neutral, transfer.target_name));
  }

  static void write(Transfer& transfer) {
    if (!transfer.target.defined()) return;
    if (transfer.source == nullptr) {
      transfer.target.fill_(transfer.neutral);
      return;
    }
    const at::Tensor numbers = at::from_blob(transfer.numbers.data(), transfer.source->shape, at::kDouble);
    transfer.target.copy_(transfer.turn.empty() ? numbers : numbers.permute(transfer.turn));
  }

  KerasFile file_;
  const std::vector<Layer>& layers_;
  std::vector<Transfer> transfers_;
  KerasReport report_;
};

}  // namespace

KerasReport load_keras_weights(const std::string& path, const std::vector<Layer>& layers) {
  return Matcher(path, layers).load();
}

}  // namespace lipschitzlr::nn
