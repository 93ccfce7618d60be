#include "report/titles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/text.hpp"

namespace lipschitzlr::report {
namespace {

using run::Record;

template <std::size_t count>
std::string lookup(const std::array<std::pair<const char*, const char*>, count>& titles, const std::string& name) {
  const auto found = std::find_if(titles.begin(), titles.end(), [&](const auto& title) { return name == title.first; });
  return found == titles.end() ? name : found->second;
}

// The first says the method, the others how it was used.
std::vector<std::string> label_parts(const Record& record) {
  const std::string method = optimizer_title(record.optimizer()), rate = record.option("rate");
  if (record.kind == run::RecordKind::linear) {
    if (rate.empty() || rate == "auto") return {method};  // a solver without a rate
    if (rate == "gradient") return {method, "1/beta"};
    return {method, (std::isdigit(static_cast<unsigned char>(rate[0])) != 0 ? "rate " : "1/L ") + rate};
  }
  const std::string policy = record.option("policy"), protocol = record.option("protocol");
  std::vector<std::string> parts = {policy.empty() ? method : method + " " + policy};
  if (!protocol.empty()) parts.push_back(protocol);
  if (policy == "baseline" && record.number("rate") > 0) {
    parts.push_back(fmt::format("rate {:.6g}", record.number("rate")));
  }
  if (record.number("decay") > 0) parts.push_back(fmt::format("decay {}", record.number("decay")));
  return parts;
}

}  // namespace

std::string data_title(const std::string& data) {
  constexpr std::array<std::pair<const char*, const char*>, 12> titles = {{{"mnist", "MNIST"},
                                                                           {"fashion-mnist", "Fashion-MNIST"},
                                                                           {"cifar10", "CIFAR-10"},
                                                                           {"cifar100", "CIFAR-100"},
                                                                           {"california", "California housing"},
                                                                           {"boston", "Boston housing"},
                                                                           {"breast-cancer", "Breast cancer"},
                                                                           {"covertype", "Cover type"},
                                                                           {"energy", "Energy efficiency"},
                                                                           {"news", "Online news"},
                                                                           {"iris", "Iris"},
                                                                           {"digits", "Digits"}}};
  const std::string last = std::filesystem::path(data).filename().string();
  return lookup(titles, last.empty() ? data : last);
}

std::string network_title(const std::string& network) {
  const std::pair<const char*, const char*> families[] = {{"resnet", "ResNet"}, {"densenet", "DenseNet"}};
  for (const auto& [prefix, title] : families) {
    if (!network.starts_with(prefix)) continue;
    std::string rest = network.substr(std::string_view(prefix).size());
    const std::size_t version = rest.find("-v");
    if (version != std::string::npos) rest[version] = ' ';
    return title + rest;
  }
  constexpr std::array<std::pair<const char*, const char*>, 5> titles = {{{"mnist-cnn", "the paper's CNN"},
                                                                          {"softmax", "softmax regression"},
                                                                          {"logistic", "logistic regression"},
                                                                          {"linear", "linear regression"},
                                                                          {"mlp", "perceptron"}}};
  return lookup(titles, network);
}

std::string optimizer_title(const std::string& optimizer) {
  constexpr std::array<std::pair<const char*, const char*>, 10> titles = {{{"sgd", "SGD"},
                                                                           {"gd", "gradient descent"},
                                                                           {"adamo", "AdaMo"},
                                                                           {"rmsprop", "RMSprop"},
                                                                           {"auto-adam", "Auto-Adam"},
                                                                           {"adam", "Adam"},
                                                                           {"adamw", "AdamW"},
                                                                           {"lbfgs", "L-BFGS"},
                                                                           {"newton", "Newton"},
                                                                           {"momentum", "momentum"}}};
  return lookup(titles, optimizer);
}

std::string label_of(const Record& record) { return fmt::format("{}", fmt::join(label_parts(record), ", ")); }

std::vector<std::string> labels_of(const std::vector<const Record*>& records) {
  std::vector<std::vector<std::string>> parts;
  for (const Record* record : records) parts.push_back(label_parts(*record));
  const auto shared = [&](const std::string& part) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const auto& own) { return std::find(own.begin(), own.end(), part) != own.end(); });
  };
  std::vector<std::string> labels;
  for (const auto& own : parts) {
    std::string label = own.front();
    for (std::size_t i = 1; i < own.size(); ++i) label += records.size() > 1 && shared(own[i]) ? "" : ", " + own[i];
    labels.push_back(label);
  }
  const std::vector<std::string> before = labels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::count(before.begin(), before.end(), before[i]) > 1) labels[i] += " (" + records[i]->name() + ")";
  }
  return labels;
}

std::string shell_command(const std::vector<std::string>& words) {
  return words.empty() ? "" : "lipschitzlr " + shell_words(words);
}

}  // namespace lipschitzlr::report
