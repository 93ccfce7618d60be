#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/commands.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "lipschitzlr/linear/coefficients.hpp"

namespace lipschitzlr::app {
namespace {

using Json = nlohmann::ordered_json;
using linear::Coefficient;
using Coefficients = std::vector<Coefficient>;

constexpr Index kDefaultTop = 20;
constexpr std::size_t kNameWidth = 20, kMostNameWidth = 40;

enum class Sort { effect, name };

struct InspectState {
  std::string model;
  Sort sort = Sort::effect;
  std::optional<Index> top;
  bool json = false;
};

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

// The features of one class, the first `top` of them, and its intercept.
struct Block {
  std::string label;
  Coefficients features;
  std::optional<Coefficient> intercept;
  std::size_t left_out = 0;
};

std::vector<Block> blocks_of(const linear::Model& model, Sort sort, std::size_t top) {
  std::vector<Block> blocks;
  for (Coefficient& one : linear::coefficients(model)) {
    if (blocks.empty() || blocks.back().label != one.label) blocks.push_back({one.label, {}, {}});
    if (one.name.empty()) {
      blocks.back().intercept = std::move(one);
    } else {
      blocks.back().features.push_back(std::move(one));
    }
  }
  for (Block& block : blocks) {
    // The largest effects are kept, whatever they are sorted by afterwards.
    if (block.features.size() > top) {
      block.left_out = block.features.size() - top;
      block.features.resize(top);
    }
    if (sort == Sort::name) {
      std::stable_sort(block.features.begin(), block.features.end(),
                       [](const Coefficient& a, const Coefficient& b) { return a.name < b.name; });
    }
  }
  return blocks;
}

Json training_of(const linear::Model& model) { return Json::parse(model.training); }

std::string short_p(double p) { return p < 1e-4 ? fmt::format("{:.0e}", p) : fmt::format("{:.4f}", p); }

std::size_t name_width(const linear::Model& model) {
  std::size_t width = kNameWidth;
  for (const std::string& name : model.feature_names) width = std::max(width, printable(name).size());
  return std::min(width, kMostNameWidth);
}

void show_coefficient(const Coefficient& one, const std::string& name, std::size_t width, bool errors) {
  std::string line = fmt::format("  {} {:>11.4g} {:>10}", table_cell(name, width), one.value,
                                 one.effect ? fmt::format("{:.4g}", *one.effect) : "");
  if (errors && one.standard_error) {
    line += fmt::format(" {:>10.4g} {:>8.3g} {:>7} {:>11.4g} {:>11.4g}", *one.standard_error, *one.statistic,
                        short_p(*one.p), *one.low, *one.high);
  }
  fmt::print("{}\n", line.erase(line.find_last_not_of(' ') + 1));
}

std::string kind_of(const linear::Model& model) {
  const std::string target = in_quotes(model.target_name);
  switch (model.family) {
    case linear::Family::linear:
      return fmt::format("linear regression of {}", target);
    case linear::Family::logistic:
      return fmt::format("logistic regression of {}: {} against {}", target, in_quotes(model.labels[1]),
                         in_quotes(model.labels[0]));
    case linear::Family::softmax:
      return fmt::format("softmax regression of the {} classes of {}", model.labels.size(), target);
  }
  return "";
}

void show_training(const Json& training) {
  const Json train = training.value("train", Json());
  std::string facts = "trained";
  if (train.is_object() && train.contains("rows")) facts += fmt::format(" on {} rows", train["rows"].dump());
  const double l1 = number_or(training, "l1", 0), l2 = number_or(training, "l2", 0);
  if (l1 > 0) facts += fmt::format(", L1 penalty {:.4g}", l1);
  if (l2 > 0) facts += fmt::format(", L2 penalty {:.4g}", l2);
  if (const std::string verdict = text_or(training, "verdict"); !verdict.empty()) facts += ", " + printable(verdict);
  fmt::print("{}", wrap("", facts));
}

void show(const linear::Model& model, const InspectState& state) {
  fmt::print("{}", wrap("", fmt::format("{}, {}", kind_of(model), counted(model.feature_names.size(), "feature"))));
  show_training(training_of(model));
  const bool errors = model.inference.has_errors();
  const std::size_t width = name_width(model);
  const char* const changes = model.family == linear::Family::linear ? "the prediction" : "the log-odds";
  fmt::print("{}", wrap("", fmt::format("coefficient: change of {} for one unit of the file; effect: for one standard "
                                        "deviation of the feature",
                                        changes)));
  if (!errors) fmt::print("{}", wrap("no standard errors: ", linear::why_no_errors(model)));
  const bool student = std::isfinite(model.inference.degrees_of_freedom);
  for (const Block& block : blocks_of(model, state.sort, static_cast<std::size_t>(state.top.value_or(kDefaultTop)))) {
    fmt::print("\n");
    if (!block.label.empty()) {
      fmt::print("{} against {}\n", in_quotes(block.label), in_quotes(model.labels.front()));
    }
    std::string head = fmt::format("  {} {:>11} {:>10}", table_cell("feature", width), "coefficient", "effect");
    if (errors) {
      head +=
          fmt::format(" {:>10} {:>8} {:>7} {:>11} {:>11}", "std. error", student ? "t" : "z", "p", "95 % from", "to");
    }
    fmt::print("{}\n", head);
    for (const Coefficient& one : block.features) show_coefficient(one, one.name, width, errors);
    if (block.intercept) show_coefficient(*block.intercept, "(intercept)", width, errors);
    if (block.left_out > 0) {
      fmt::print("  ... and {} with smaller effects; --top {} shows all\n", counted(block.left_out, "feature"),
                 model.feature_names.size());
    }
  }
}

Json coefficient_json(const Coefficient& one) {
  Json object = Json::object();
  if (!one.name.empty()) object["name"] = one.name;
  if (!one.label.empty()) object["class"] = one.label;
  object["coefficient"] = one.value;
  if (!one.name.empty()) object["effect"] = or_null(one.effect);
  object.update({{"standard_error", or_null(one.standard_error)},
                 {"statistic", or_null(one.statistic)},
                 {"p", or_null(one.p)},
                 {"low", or_null(one.low)},
                 {"high", or_null(one.high)}});
  return object;
}

Json to_json(const linear::Model& model, const InspectState& state) {
  const std::string reason = linear::why_no_errors(model);
  const double degrees = model.inference.degrees_of_freedom;
  Json object = {{"model", to_string(model.family)},
                 {"target", model.target_name},
                 {"labels", model.labels},
                 {"features", model.feature_names.size()},
                 {"no_standard_errors", reason.empty() ? Json() : Json(reason)},
                 {"degrees_of_freedom", std::isfinite(degrees) && degrees > 0 ? Json(degrees) : Json()},
                 {"coefficients", Json::array()},
                 {"intercepts", Json::array()},
                 {"training", training_of(model)}};
  const std::size_t top = state.top ? static_cast<std::size_t>(*state.top) : model.feature_names.size();
  for (const Block& block : blocks_of(model, state.sort, top)) {
    for (const Coefficient& one : block.features) object["coefficients"].push_back(coefficient_json(one));
    if (block.intercept) object["intercepts"].push_back(coefficient_json(*block.intercept));
  }
  return object;
}

}  // namespace

Command inspect_command() {
  const auto state = std::make_shared<InspectState>();
  return {.name = "inspect",
          .summary = "Show the coefficients of a model and their standard errors",
          .options = {{"model", &state->model, "model file written by `lipschitzlr fit`", run::Flags{"MODEL"},
                       run::kRequired},
                      {"sort", run::choice(state->sort, {"effect", "name"}), "order of the features"},
                      {"top", &state->top, "the N features with the largest effects; default: 20, all with --json",
                       run::Placeholder{"N"}, run::at_least(1)},
                      run::json_option(state->json)},
          .run =
              [state](const Call&) {
                const linear::Model model = linear::load_model(state->model);
                if (state->json) {
                  fmt::print("{}\n", to_json(model, *state).dump(2));
                } else {
                  show(model, *state);
                }
                return 0;
              },
          .details =
              "Standard errors, z (t for numbers), p and 95 % intervals are valid without a penalty and at the\n"
              "optimum: fit with --l2 0. Otherwise one line says why there are none.",
          .examples =
              "inspect model.json\n"
              "inspect model.json --top 5\n"
              "inspect model.json --sort name --json"};
}

}  // namespace lipschitzlr::app
