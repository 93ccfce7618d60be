#include "run/fit_answers.hpp"

#include <cmath>

#include "base/json.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDrawn = 1000;  // of anything: more is not from a fit

const json& field(const json& object, const char* name) {
  static const json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

// Only finite numbers, and not too many.
bool read_numbers(const json& list, std::vector<double>& numbers) {
  if (!list.is_array() || list.size() > kMostDrawn) return false;
  for (const json& value : list) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return false;
    numbers.push_back(value.get<double>());
  }
  return true;
}

bool read_effects(const json& list, std::vector<FitAnswers::Effect>& effects) {
  if (list.is_null()) return true;
  if (!list.is_array() || list.size() > kMostDrawn) return false;
  for (const json& one : list) {
    const json& effect = field(one, "effect");
    if (!effect.is_number()) return false;
    const std::string of = text_or(one, "class");
    effects.push_back({text_or(one, "name") + (of.empty() ? "" : " (" + of + ")"), effect.get<double>()});
  }
  return true;
}

bool read_roc(const json& list, std::vector<FitAnswers::Curve>& curves) {
  if (list.is_null()) return true;
  if (!list.is_array() || list.size() > kMostDrawn) return false;
  for (const json& one : list) {
    FitAnswers::Curve& curve = curves.emplace_back();
    if (!read_numbers(field(one, "false_positive"), curve.x) || !read_numbers(field(one, "true_positive"), curve.y) ||
        curve.x.size() != curve.y.size()) {
      curves.pop_back();
      return false;
    }
    curve.label = text_or(one, "label");
  }
  return true;
}

bool read_calibration(const json& list, FitAnswers::Curve& curve) {
  if (list.is_null()) return true;
  if (!list.is_array() || list.size() > kMostDrawn) return false;
  for (const json& bin : list) {
    const json &predicted = field(bin, "predicted"), &observed = field(bin, "observed");
    if (predicted.is_null() && observed.is_null()) continue;  // no rows
    if (!predicted.is_number() || !observed.is_number()) return false;
    curve.x.push_back(predicted.get<double>());
    curve.y.push_back(observed.get<double>());
  }
  return true;
}

bool read_confusion(const json& test, FitAnswers& answers) {
  const json &labels = field(test, "labels"), &rows = field(test, "confusion");
  if (labels.is_null() && rows.is_null()) return true;
  if (!labels.is_array() || !rows.is_array() || labels.size() != rows.size()) return false;
  if (labels.size() > kMostDrawn) return true;
  for (const json& row : rows) {
    std::vector<double> numbers;
    if (!read_numbers(row, numbers) || numbers.size() != labels.size()) {
      answers.confusion.clear();
      return false;
    }
    answers.confusion.push_back(std::move(numbers));
  }
  for (const json& label : labels)
    answers.labels.push_back(label.is_string() ? label.get<std::string>() : label.dump());
  return true;
}

bool read_histogram(const json& histogram, FitAnswers& answers) {
  if (histogram.is_null()) return true;
  answers.first_error = number_or(histogram.is_object() ? histogram : json::object(), "first", NAN);
  answers.error_width = number_or(histogram.is_object() ? histogram : json::object(), "width", NAN);
  if (std::isfinite(answers.first_error) && std::isfinite(answers.error_width) &&
      read_numbers(field(histogram, "rows"), answers.errors)) {
    return true;
  }
  answers.errors.clear();
  return false;
}

}  // namespace

bool read_answers(const json& summary, FitAnswers& answers) {
  const json& test = field(summary, "test");
  return read_effects(field(summary, "coefficients"), answers.effects) && read_roc(field(test, "roc"), answers.roc) &&
         read_calibration(field(test, "calibration"), answers.calibration) && read_confusion(test, answers) &&
         read_histogram(field(test, "error_histogram"), answers);
}

}  // namespace lipschitzlr::run
