#include "auto/data.hpp"

#include <torch/torch.h>

#include <array>
#include <map>
#include <numeric>
#include <variant>
#include <vector>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::bench {
namespace {

constexpr std::uint64_t kChoice = 20;  // seed of what is trained on and judged by

// So many different numbers below count, always the same.
std::vector<std::int64_t> chosen_rows(std::int64_t count, std::int64_t wanted) {
  if (wanted > count) throw Error(Fault::data, "the benchmark wants more rows than the set has");
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  Random(kChoice).shuffle(std::span(rows));
  rows.resize(static_cast<std::size_t>(wanted));
  return rows;
}

Data split(const at::Tensor& inputs, const at::Tensor& targets, std::int64_t train, std::int64_t classes) {
  return {inputs.slice(0, 0, train).contiguous(), targets.slice(0, 0, train).contiguous(),
          inputs.slice(0, train).contiguous(), targets.slice(0, train).contiguous(), classes};
}

// n x channels x height x width from 0 to 1, and the labels.
std::pair<at::Tensor, at::Tensor> pixels_of(const data::ImageSet& set, const std::vector<std::int64_t>& rows) {
  const at::Tensor all = torch::from_blob(const_cast<std::uint8_t*>(set.pixels.data()),
                                          {set.count(), set.height, set.width, set.channels}, torch::kUInt8);
  const at::Tensor labels =
      torch::from_blob(const_cast<std::int32_t*>(set.labels.data()), {set.count()}, torch::kInt32);
  const at::Tensor index = torch::tensor(rows);
  return {all.index_select(0, index).permute({0, 3, 1, 2}).contiguous().to(torch::kFloat32) / 255,
          labels.index_select(0, index).to(torch::kInt64)};
}

at::Tensor standardized(const at::Tensor& values, std::int64_t train) {
  const at::Tensor known = values.slice(0, 0, train);
  const at::Tensor mean = known.mean(0), deviation = known.std(0, false);
  return (values - mean) / torch::where(deviation > 0, deviation, torch::ones_like(deviation));
}

at::Tensor dense(const data::Features& features, const std::vector<std::int64_t>& rows) {
  at::Tensor values = torch::empty({static_cast<std::int64_t>(rows.size()), data::columns(features)}, torch::kFloat64);
  auto* out = values.data_ptr<double>();
  const DenseMatrix<double> all = data::to_dense(features);
  for (const std::int64_t row : rows) out = std::copy_n(all.data() + row * all.cols(), all.cols(), out);
  return values;
}

// What is trained on and, after it, what is judged by; other licences than these are versions of one another.
constexpr std::array kTrainText = {"GPL-1",  "GPL-2",    "GPL-3",    "LGPL-2", "LGPL-2.1",
                                   "LGPL-3", "GFDL-1.2", "GFDL-1.3", "MPL-1.1"};
constexpr std::array kValidText = {"Apache-2.0", "Artistic"};

template <std::size_t count>
std::string text_of(const std::array<const char*, count>& names) {
  std::string all;
  for (const char* name : names) all += read_file(std::string("/usr/share/common-licenses/") + name);
  return all;
}

// Windows of context + 1 characters, half of each in the next.
at::Tensor windows(const std::string& text, const std::map<char, std::int64_t>& numbers, std::int64_t context) {
  std::vector<std::int64_t> codes;
  for (const char letter : text) codes.push_back(numbers.at(letter));
  return torch::tensor(codes).unfold(0, context + 1, context / 2).contiguous();
}

}  // namespace

Data images(const std::string& set, std::int64_t train, std::int64_t valid, std::int64_t side) {
  const data::ImageSet all = data::catalogue::load_images(data::catalogue::entry(set));
  auto [pixels, labels] = pixels_of(all, chosen_rows(all.count(), train + valid));
  if (pixels.size(2) != side) pixels = torch::adaptive_avg_pool2d(pixels, {side, side});
  const at::Tensor known = pixels.slice(0, 0, train);
  pixels = (pixels - known.mean()) / known.std();
  return split(pixels, labels, train, static_cast<std::int64_t>(all.classes.size()));
}

Data images_to_copy(const std::string& set, std::int64_t train, std::int64_t valid) {
  const data::ImageSet all = data::catalogue::load_images(data::catalogue::entry(set));
  const at::Tensor pixels = pixels_of(all, chosen_rows(all.count(), train + valid)).first.flatten(1);
  return split(pixels, pixels, train, 0);
}

Data table(const std::string& set, std::int64_t train, std::int64_t valid, double target_scale) {
  const data::Table all = data::catalogue::load(set);
  const std::vector<std::int64_t> rows = chosen_rows(all.rows(), train + valid);
  const at::Tensor inputs = standardized(dense(all.features, rows), train).to(torch::kFloat32);
  std::vector<double> values;
  for (const std::int64_t row : rows) values.push_back(all.target[row]);
  const at::Tensor target = torch::tensor(values, torch::kFloat64);
  if (all.is_classified()) {
    return split(inputs, target.to(torch::kInt64), train, static_cast<std::int64_t>(all.labels.size()));
  }
  const at::Tensor scaled = standardized(target, train) * target_scale;
  return split(inputs, scaled.to(torch::kFloat32).unsqueeze(1), train, 0);
}

Data text(std::int64_t context) {
  const std::string train = text_of(kTrainText), valid = text_of(kValidText);
  std::map<char, std::int64_t> numbers;
  for (const char letter : train + valid) numbers.try_emplace(letter, static_cast<std::int64_t>(numbers.size()));
  const at::Tensor known = windows(train, numbers, context), all = windows(valid, numbers, context);
  const at::Tensor judged = all.index_select(0, torch::tensor(chosen_rows(all.size(0), 150)));
  return {known.slice(1, 0, context).contiguous(), known.slice(1, 1).contiguous(),
          judged.slice(1, 0, context).contiguous(), judged.slice(1, 1).contiguous(),
          static_cast<std::int64_t>(numbers.size())};
}

}  // namespace lipschitzlr::bench
