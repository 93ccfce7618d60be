#include <fmt/format.h>

#include <cmath>

#include "base/json.hpp"
#include "lipschitzlr/linear/evaluation.hpp"

namespace lipschitzlr::linear {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

// Counts of rows as whole numbers, sums of weights as they are.
Json counted_weight(double weight) {
  constexpr double kExact = 1e15;
  return weight < kExact && weight == std::floor(weight) ? Json(static_cast<std::int64_t>(weight)) : Json(weight);
}

Json counted_weights(const std::vector<double>& weights) {
  Json list = Json::array();
  for (const double weight : weights) list.push_back(counted_weight(weight));
  return list;
}

Json averages_json(const Averages& averages) {
  return {{"precision", averages.precision}, {"recall", averages.recall}, {"f1", averages.f1}};
}

void add_classes(const Evaluation& result, Json& object) {
  object.update({{"accuracy", result.accuracy},
                 {"majority_accuracy", result.majority_accuracy},
                 {"balanced_accuracy", result.balanced_accuracy},
                 {"auc", or_null(result.auc)},
                 {"average_precision", or_null(result.average_precision)},
                 {"log_loss", result.loss},
                 {"brier", result.brier},
                 {"calibration_error", result.calibration_error},
                 {"macro", averages_json(result.macro)},
                 {"weighted", averages_json(result.weighted)},
                 {"labels", result.labels},
                 {"classes", Json::array()},
                 {"confusion", Json::array()},
                 {"calibration", Json::array()},
                 {"roc", Json::array()}});
  for (std::size_t c = 0; c < result.labels.size(); ++c) {
    const ClassFigures& figures = result.classes[c];
    object["classes"].push_back({{"label", result.labels[c]},
                                 {"rows", counted_weight(figures.weight)},
                                 {"precision", figures.precision},
                                 {"recall", figures.recall},
                                 {"f1", figures.f1},
                                 {"auc", or_null(figures.auc)},
                                 {"average_precision", or_null(figures.average_precision)}});
    object["confusion"].push_back(counted_weights(result.confusion[c]));
  }
  for (const CalibrationBin& bin : result.calibration) {
    const bool empty = !(bin.weight > 0);
    object["calibration"].push_back({{"rows", counted_weight(bin.weight)},
                                     {"predicted", empty ? Json() : Json(bin.predicted)},
                                     {"observed", empty ? Json() : Json(bin.observed)}});
  }
  for (std::size_t i = 0; i < result.roc.size(); ++i) {
    if (result.roc[i].false_positive.empty()) continue;
    object["roc"].push_back({{"label", result.labels[result.roc.size() == 1 ? 1 : i]},
                             {"false_positive", result.roc[i].false_positive},
                             {"true_positive", result.roc[i].true_positive}});
  }
}

void add_numbers(const Evaluation& result, Json& object) {
  Json quantiles = Json::object();
  for (std::size_t i = 0; i < kErrorShares.size(); ++i) {
    quantiles[fmt::format("{}", kErrorShares[i])] = result.error_quantiles[i];
  }
  object.update({{"rmse", result.rmse},
                 {"mae", result.mae},
                 {"r2", result.r2},
                 {"largest_error", result.largest_error},
                 {"error_quantiles", quantiles},
                 {"error_histogram",
                  {{"first", result.errors.first},
                   {"width", result.errors.width},
                   {"rows", counted_weights(result.errors.weights)}}}});
}

}  // namespace

std::string to_json(const Evaluation& evaluation) {
  Json object = {
      {"rows", evaluation.rows}, {"loss", evaluation.loss}, {"best_constant_loss", evaluation.constant_loss}};
  if (evaluation.family == Family::linear) {
    add_numbers(evaluation, object);
  } else {
    add_classes(evaluation, object);
  }
  object["remarks"] = evaluation.remarks;
  // Classes of images are named by folders, whose names may be any bytes.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lipschitzlr::linear
