#pragma once
// What is trained in the benchmark. Constants of a rule may be chosen by the development workloads; the held-out ones
// were named here before any of them was run, and are opened once, when the rule is finished.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "auto/data.hpp"
#include "auto/models.hpp"

namespace lipschitzlr::bench {

enum class Loss { cross_entropy, squared_error, binary_cross_entropy };

struct Workload {
  std::string name, what;
  bool held_out = false;
  std::int64_t steps = 0, batch = 0;
  Loss loss = Loss::cross_entropy;
  std::function<Data()> data;
  std::function<std::shared_ptr<Model>(const Data&)> model;
  double start_scale = 1;  // of the weights
  bool augmented = false;  // images are flipped and shifted by up to 2 pixels
};

const std::vector<Workload>& workloads();
const Workload& workload(const std::string& name);  // throws Error (usage) that lists the names

at::Tensor loss_of(Loss loss, const at::Tensor& outputs, const at::Tensor& targets);

}  // namespace lipschitzlr::bench
