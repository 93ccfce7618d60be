#include "lipschitzlr/linear/model.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "linear/table_model_json.hpp"
#include "linear/weights_json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {
namespace {

using nlohmann::json;

constexpr int kVersion = 2;  // 1 has no columns
constexpr const char* kFormat = "lipschitzlr-linear-model";

Weights<double> read_weights(const ModelFields& reader) {
  const auto rows = reader.get<std::vector<std::vector<double>>>("weights");
  try {
    return weights_from<double>(rows);
  } catch (const Error& error) {
    reader.fail(error.what());
  }
}

// Numbers from 0 on; null, where it may be, is NaN.
std::vector<double> read_spreads(const json& list, bool may_be_null, const ModelFields& reader) {
  std::vector<double> numbers;
  if (!list.is_array()) reader.fail("the field \"inference\" is not what a model has there");
  for (const json& value : list) {
    if (!(value.is_null() && may_be_null) && !(value.is_number() && value.get<double>() >= 0)) {
      reader.fail("the field \"inference\" is not what a model has there");
    }
    numbers.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  return numbers;
}

json inference_json(const Inference& inference) {
  json object = {{"deviations", inference.deviations}, {"obstacle", inference.obstacle}};
  if (inference.has_errors()) {
    object["standard_errors"] = rows_of(inference.standard_errors);
    object["degrees_of_freedom"] = inference.degrees_of_freedom;  // null when infinite
  }
  return object;
}

Inference read_inference(const json& object, const Model& model, const ModelFields& reader) {
  const auto expect = [&](bool holds) {
    if (!holds) reader.fail("the field \"inference\" is not what a model has there");
  };
  expect(object.is_object());
  Inference inference;
  inference.deviations = read_spreads(object.value("deviations", json::array()), false, reader);
  expect(inference.deviations.size() == model.feature_names.size());
  inference.obstacle = text_or(object, "obstacle");
  const json errors = object.value("standard_errors", json());
  if (errors.is_null()) return inference;
  const Index outputs = model.family == Family::softmax ? model.classes() - 1 : 1;
  expect(errors.is_array() && errors.size() == model.feature_names.size() + 1);
  inference.standard_errors.resize(static_cast<Index>(errors.size()), outputs);
  for (Index j = 0; j < inference.standard_errors.rows(); ++j) {
    const std::vector<double> row = read_spreads(errors[static_cast<std::size_t>(j)], true, reader);
    expect(row.size() == static_cast<std::size_t>(outputs));
    inference.standard_errors.row(j) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), outputs);
  }
  const json degrees = object.value("degrees_of_freedom", json());
  expect(model.family == Family::linear ? degrees.is_number() : degrees.is_null());
  inference.degrees_of_freedom = degrees.is_null() ? std::numeric_limits<double>::infinity() : degrees.get<double>();
  expect(inference.degrees_of_freedom > 0);
  return inference;
}

void check_weights(const Model& model, const ModelFields& reader) {
  const Index columns = model.scaler.design_columns(), labels = model.classes();
  reader.expect(model.weights.rows() == columns,
                fmt::format("there are weights for {} columns, not {}", model.weights.rows(), columns));
  if (model.family == Family::softmax) {
    reader.expect(
        model.weights.cols() == labels,
        fmt::format("a softmax model has one output per label, here {} for {}", model.weights.cols(), labels));
  } else {
    reader.expect(model.weights.cols() == 1, fmt::format("a {} model has one output", to_string(model.family)));
  }
  reader.expect(model.weights.allFinite(), "a weight is not finite");
}

// On one thread where starting others would cost more than the scores.
DenseMatrix<double> scores(const Model& model, const data::Features& rows) {
  constexpr double kWorthThreads = 1e6;
  const double work = static_cast<double>(data::rows(rows)) * static_cast<double>(model.weights.size());
  ThreadPool pool(work < kWorthThreads ? 1 : 0);
  return scores(model, rows, pool);
}

}  // namespace

Vector<double> Model::predict(const data::Features& rows) const {
  const DenseMatrix<double> outputs = scores(*this, rows);
  if (labels.empty()) return outputs.col(0);
  return Vector<double>::NullaryExpr(
      outputs.rows(), [&](Index row) { return static_cast<double>(predicted_class(family, outputs, row)); });
}

DenseMatrix<double> Model::probabilities(const data::Features& rows) const {
  if (labels.empty()) throw Error(Fault::usage, "a linear regression has no classes, so it has no probabilities");
  const DenseMatrix<double> outputs = scores(*this, rows);
  DenseMatrix<double> shares(outputs.rows(), classes());
  for (Index row = 0; row < shares.rows(); ++row) {
    const std::vector<double> share = linear::probabilities(family, outputs, row);
    shares.row(row) = Eigen::Map<const Eigen::RowVectorXd>(share.data(), classes());
  }
  return shares;
}

std::string to_json(const Model& model) {
  json file = table_fields(model);
  file["format"] = kFormat;
  file["version"] = model.encoder.known() ? kVersion : 1;
  file["weights"] = rows_of(model.weights);
  file["training"] = json::parse(model.training.empty() ? "{}" : model.training);
  if (model.inference.known()) file["inference"] = inference_json(model.inference);
  if (!model.resume.empty()) file["resume"] = json::parse(model.resume);
  return file.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Model model_from_json(const std::string& text, const std::string& name) {
  const json file = parse_model(text, name);
  const ModelFields reader(file, name);
  if (!file.is_object() || file.value("format", json()) != kFormat)
    reader.fail("it was not written by `lipschitzlr fit`");
  const auto version = reader.get<std::int64_t>("version");
  if (version > kVersion) {
    reader.fail(
        fmt::format("its version is {}, this program reads up to {}; use a newer lipschitzlr", version, kVersion));
  }
  if (version < 1) reader.fail(fmt::format("there is no version {}", version));

  Model model;
  static_cast<TableModel&>(model) = read_table_fields(reader);
  model.weights = read_weights(reader);
  model.training = reader.get<json>("training").dump();
  if (file.contains("resume")) model.resume = file["resume"].dump();
  check_weights(model, reader);
  reader.expect(json::parse(model.training).is_object(), "the field \"training\" is not what a model has there");
  if (version > 1) model.encoder = read_columns(reader, model);
  if (file.contains("inference")) model.inference = read_inference(file["inference"], model, reader);
  return model;
}

void save_model(const Model& model, const std::string& path) { write_file_atomically(path, to_json(model)); }

Model load_model(const std::string& path) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) {
    throw Error(Fault::data, path + ": is a folder: expected a model file, as `lipschitzlr fit` writes it");
  }
  return model_from_json(read_file(path), path);
}

DenseMatrix<double> scores(const Model& model, const data::Features& features, ThreadPool& pool) {
  if (const auto* sparse = std::get_if<SparseMatrix<double>>(&features)) {
    return scores(model.scaler.design<double>(*sparse), model.weights, pool);
  }
  return scores(model.scaler.streamed_design<double>(data::view_of(features)), model.weights, pool);
}

}  // namespace lipschitzlr::linear
