// Checkpoints and weights of a Trainer. A checkpoint is a safetensors file with the weights, the optimizer's tensors,
// and everything else as text: nothing in it is run, and every number is checked against what it counts before it is
// used. Its checksum finds damage that the format would not.

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/json.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/sha256.hpp"
#include "lipschitzlr/nn/keras.hpp"
#include "lipschitzlr/nn/safetensors.hpp"
#include "nn/trainer_state.hpp"

namespace lipschitzlr::nn {
namespace {

constexpr const char* kFormat = "lipschitzlr checkpoint 2";
constexpr const char* kOldFormat = "lipschitzlr checkpoint 1";  // with a libtorch archive, which can hold code
constexpr std::string_view kOptimizer = "optimizer ";           // before the names of the optimizer's tensors
constexpr std::string_view kNote = "note ";                     // before the caller's own names
constexpr std::int64_t kMostEpochs = 1'000'000'000;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw Error(Fault::data, fmt::format("{}: {}", path, reason));
}

std::string checksum(const NamedTensors& tensors, const Trainer::Notes& metadata) {
  Sha256 sum;
  for (const auto& [name, text] : metadata) {
    if (name != "checksum") sum.add(fmt::format("{}={}\n", name, text));
  }
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor values = tensor.detach().contiguous();
    sum.add(name);
    sum.add({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  }
  return sum.finish();
}

std::string to_json(const Position& at) {
  // Doubles as bits in text would be safer still; nlohmann writes the shortest text that reads back the same.
  return nlohmann::json{{"epoch", at.epoch},           {"batch", at.batch},        {"step", at.step},
                        {"loss_sum", at.loss_sum},     {"correct", at.correct},    {"seen", at.seen},
                        {"start_rate", at.start_rate}, {"last_rate", at.last_rate}}
      .dump();
}

Position position_from(const std::string& text) {
  const nlohmann::json json = parse_json(text, "its position");
  const auto count = [&](const char* name) {
    return json.at(name).is_number_unsigned() ? json.at(name).get<std::int64_t>() : -1;
  };
  return {.epoch = count("epoch"),
          .batch = count("batch"),
          .step = count("step"),
          .loss_sum = json.at("loss_sum").get<double>(),
          .correct = count("correct"),
          .seen = count("seen"),
          .start_rate = json.at("start_rate").get<double>(),
          .last_rate = json.at("last_rate").get<double>()};
}

const at::Tensor* find(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [known, tensor] : tensors) {
    if (known == name) return &tensor;
  }
  return nullptr;
}

void check_weights(const std::string& path, const NamedTensors& from, const NamedTensors& to) {
  for (const auto& [name, target] : to) {
    const at::Tensor* source = find(from, name);
    if (source == nullptr) refuse(path, fmt::format("has no tensor {}; it belongs to another network", name));
    if (source->sizes() != target.sizes()) {
      refuse(path, fmt::format("the tensor {} has the shape [{}], expected [{}]; it belongs to another network", name,
                               fmt::join(source->sizes(), ", "), fmt::join(target.sizes(), ", ")));
    }
  }
  // A deeper network of the same family has all of these and more.
  for (const auto& [name, tensor] : from) {
    if (name.starts_with(kOptimizer) || find(to, name) != nullptr) continue;
    refuse(path, fmt::format("has the tensor {}, which this network lacks; it belongs to another network", name));
  }
}

void copy_weights(const NamedTensors& from, const NamedTensors& to) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, target] : to) at::Tensor(target).copy_(*find(from, name));
}

// By what it begins with, whatever its name.
bool is_hdf5(const std::string& path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  std::string begin(kSignature.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kSignature || path.ends_with(".h5") || path.ends_with(".hdf5");
}

// Returns what a reader should know of the matching.
std::vector<std::string> read_weights(const std::string& path, const Network& network) {
  if (!is_hdf5(path)) {
    const NamedTensors tensors = load_safetensors(path).tensors, own = named_weights(network);
    check_weights(path, tensors, own);
    copy_weights(tensors, own);
    return {};
  }
  const KerasReport report = load_keras_weights(path, network.layers());
  std::vector<std::string> remarks = {fmt::format("{} layers matched", report.matched.size())};
  remarks.insert(remarks.end(), report.unmatched_file.begin(), report.unmatched_file.end());
  remarks.insert(remarks.end(), report.unmatched_network.begin(), report.unmatched_network.end());
  return remarks;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

// Where a batch begins is computed from the position, so that what follows from epoch and batch must agree.
bool Trainer::State::fits(const Position& at) const {
  const Index steps = steps_per_epoch(), count = static_cast<Index>(chosen.size());
  return at.epoch >= 1 && at.epoch <= kMostEpochs && at.batch >= 0 && at.batch <= steps &&
         at.step == (at.epoch - 1) * steps + at.batch && at.seen == std::min(at.batch * options.batch, count) &&
         at.correct >= 0 && at.correct <= at.seen && at.loss_sum >= 0 && at.start_rate >= 0 && at.last_rate >= 0;
}

void Trainer::save(const std::string& path, const Notes& notes) const {
  NamedTensors tensors = named_weights(*state_->network);
  const OptimizerSnapshot optimizer = state_->optimizer->snapshot();
  for (const auto& [name, tensor] : optimizer.tensors) tensors.emplace_back(std::string(kOptimizer) + name, tensor);
  Notes metadata = {{"format", kFormat},
                    {"position", to_json(state_->position)},
                    {"optimizer", optimizer.json},
                    {"threads", std::to_string(at::get_num_threads())},
                    {"processes", std::to_string(state_->communicator == nullptr ? 1 : state_->communicator->size())}};
  for (const auto& [name, text] : notes) metadata[std::string(kNote) + name] = text;
  metadata["checksum"] = checksum(tensors, metadata);
  save_safetensors(path, tensors, metadata);
}

Trainer::Notes Trainer::load(const std::string& path) {
  const SafetensorsFile file =
      parse_safetensors(from_root(state_->communicator, [&] { return read_file(path); }), path);
  const auto text = [&](const char* name) -> const std::string& {
    const auto found = file.metadata.find(name);
    if (found == file.metadata.end()) refuse(path, "is not a training checkpoint; does it hold only weights?");
    return found->second;
  };
  if (text("format") == kOldFormat) {
    refuse(path,
           "was made by an older version of lipschitzlr, whose checkpoints can't be resumed; start again with "
           "these weights: --weights " +
               path);
  }
  if (text("format") != kFormat)
    refuse(path, fmt::format("is of the format \"{}\", expected \"{}\"", text("format"), kFormat));
  if (text("checksum") != checksum(file.tensors, file.metadata)) refuse(path, "is damaged: its checksum does not fit");
  State& state = *state_;
  const NamedTensors own = named_weights(*state.network);
  check_weights(path, file.tensors, own);
  OptimizerSnapshot optimizer{.tensors = {}, .json = text("optimizer")};
  for (const auto& [name, tensor] : file.tensors) {
    if (name.starts_with(kOptimizer)) optimizer.tensors.emplace_back(name.substr(kOptimizer.size()), tensor);
  }
  try {
    const Position position = position_from(text("position"));
    if (!state.fits(position)) throw Error(Fault::data, "its position does not belong to this training");
    state.optimizer->restore(optimizer);
    copy_weights(file.tensors, own);
    state.position = position;
    state.order.clear();
  } catch (const Error& error) {
    refuse(path, error.what());
  } catch (const nlohmann::json::exception&) {
    refuse(path, "its position can't be read");
  }
  Notes notes;
  for (const auto& [name, value] : file.metadata) {
    if (name.starts_with(kNote)) notes[name.substr(kNote.size())] = value;
  }
  notes["threads"] = text("threads");
  notes["processes"] = text("processes");
  return notes;
}

std::vector<std::string> Trainer::load_weights(const std::string& path) {
  const std::string remarks = from_root(
      state_->communicator, [&] { return fmt::format("{}", fmt::join(read_weights(path, *state_->network), "\n")); });
  if (state_->parallel) state_->parallel->broadcast_weights();
  return lines_of(remarks);
}

void Trainer::save_weights(const std::string& path) const {
  const JudgedNetwork judged(*state_);
  save_safetensors(path, named_weights(*state_->network), {{"network", state_->options.network}});
}

}  // namespace lipschitzlr::nn
