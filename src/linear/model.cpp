#include "lipschitzlr/linear/model.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.hpp"
#include "linear/encoder_json.hpp"
#include "linear/weights_json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {
namespace {

using nlohmann::json;

constexpr int kVersion = 2;  // 1 has no columns
constexpr const char* kFormat = "lipschitzlr-linear-model";

// Reads fields of a model file; whatever is missing or of another kind becomes a sentence that names file and field.
class Reader {
 public:
  Reader(const json& object, std::string name) : object_(object), name_(std::move(name)) {}

  template <class Value>
  Value get(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end()) fail(fmt::format("the field \"{}\" is missing", field));
    try {
      // true or 1.5 would become a whole number without a word.
      const bool whole = std::is_integral_v<Value> && !std::is_same_v<Value, bool>;
      if (!whole || found->is_number_integer()) return found->get<Value>();
    } catch (const json::exception&) {
    }
    fail(fmt::format("the field \"{}\" is not what a model has there", field));
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(Fault::data, fmt::format("{}: not a usable model file: {}", name_, reason));
  }

 private:
  const json& object_;
  std::string name_;
};

Weights<double> read_weights(const Reader& reader) {
  const auto rows = reader.get<std::vector<std::vector<double>>>("weights");
  try {
    return weights_from<double>(rows);
  } catch (const Error& error) {
    reader.fail(error.what());
  }
}

// Numbers from 0 on; null, where it may be, is NaN.
std::vector<double> read_spreads(const json& list, bool may_be_null, const Reader& reader) {
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

Inference read_inference(const json& object, const Model& model, const Reader& reader) {
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

void check_model_shape(const Model& model, const Reader& reader) {
  const auto columns = model.feature_names.size() + (model.scaler.intercept ? 1 : 0);
  const auto expect = [&](bool holds, const std::string& reason) {
    if (!holds) reader.fail(reason);
  };
  expect(model.scaler.offsets.size() == columns && model.scaler.factors.size() == columns,
         fmt::format("the scaling has {} offsets and {} factors for {} columns", model.scaler.offsets.size(),
                     model.scaler.factors.size(), columns));
  expect(static_cast<std::size_t>(model.weights.rows()) == columns,
         fmt::format("there are weights for {} columns, not {}", model.weights.rows(), columns));
  const std::size_t labels = model.labels.size();
  switch (model.family) {
    case Family::linear:
      expect(model.weights.cols() == 1 && labels == 0, "a linear model has one output and no labels");
      break;
    case Family::logistic:
      expect(model.weights.cols() == 1 && labels == 2, "a logistic model has one output and two labels");
      break;
    case Family::softmax:
      expect(labels >= 2 && static_cast<std::size_t>(model.weights.cols()) == labels,
             fmt::format("a softmax model has one output per label, here {} for {}", model.weights.cols(), labels));
      break;
  }
  expect(model.weights.allFinite(), "a weight is not finite");
  expect(std::set(model.labels.begin(), model.labels.end()).size() == labels, "a label stands there twice");
  expect(json::parse(model.training).is_object(), "the field \"training\" is not what a model has there");
}

// Older model files do not say whether the names came from a header.
bool are_numbered(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != fmt::format("x{}", i + 1)) return false;
  }
  return true;
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
  json file = {{"format", kFormat},
               {"version", model.encoder.known() ? kVersion : 1},
               {"family", to_string(model.family)},
               {"features", model.feature_names},
               {"has_names", model.has_names},
               {"target", model.target_name},
               {"target_column", model.target_column},
               {"labels", model.labels},
               {"intercept", model.scaler.intercept},
               {"scaling",
                {{"kind", data::to_string(model.scaler.kind)},
                 {"offsets", model.scaler.offsets},
                 {"factors", model.scaler.factors}}},
               {"weights", rows_of(model.weights)},
               {"training", json::parse(model.training.empty() ? "{}" : model.training)}};
  if (model.encoder.known()) file["columns"] = encoder_json(model.encoder);
  if (model.inference.known()) file["inference"] = inference_json(model.inference);
  if (!model.resume.empty()) file["resume"] = json::parse(model.resume);
  return file.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Model model_from_json(const std::string& text, const std::string& name) {
  json file;
  try {
    file = parse_json(text, "");
  } catch (const Error& error) {
    throw Error(Fault::data, fmt::format("{}: not a usable model file: it {}", name, error.what()));
  }
  const Reader reader(file, name);
  if (!file.is_object() || file.value("format", json()) != kFormat)
    reader.fail("it was not written by `lipschitzlr fit`");
  const auto version = reader.get<std::int64_t>("version");
  if (version > kVersion) {
    reader.fail(
        fmt::format("its version is {}, this program reads up to {}; use a newer lipschitzlr", version, kVersion));
  }
  if (version < 1) reader.fail(fmt::format("there is no version {}", version));

  Model model;
  try {
    model.family = family_from(reader.get<std::string>("family"));
    const auto scaling = reader.get<json>("scaling");
    const Reader scaling_reader(scaling, name);
    if (!scaling.is_object()) reader.fail("the field \"scaling\" is not what a model has there");
    model.scaler.kind = data::scaling_from(scaling_reader.get<std::string>("kind"));
    model.scaler.offsets = scaling_reader.get<std::vector<double>>("offsets");
    model.scaler.factors = scaling_reader.get<std::vector<double>>("factors");
  } catch (const Error& error) {
    if (error.fault() == Fault::data) throw;
    reader.fail(error.what());
  }
  model.scaler.intercept = reader.get<bool>("intercept");
  model.feature_names = reader.get<std::vector<std::string>>("features");
  model.has_names = file.contains("has_names") ? reader.get<bool>("has_names") : !are_numbered(model.feature_names);
  model.target_name = reader.get<std::string>("target");
  model.target_column = reader.get<Index>("target_column");
  model.labels = reader.get<std::vector<std::string>>("labels");
  model.weights = read_weights(reader);
  model.training = reader.get<json>("training").dump();
  if (file.contains("resume")) model.resume = file["resume"].dump();
  if (model.feature_names.empty()) reader.fail("it has no features");
  check_model_shape(model, reader);
  if (std::set<std::string>(model.feature_names.begin(), model.feature_names.end()).size() !=
      model.feature_names.size()) {
    reader.fail("a feature has the name of another one");
  }
  if (version > 1) {
    const auto columns = reader.get<json>("columns");
    try {
      model.encoder = encoder_from(columns, model.feature_names);
    } catch (const Error& error) {
      reader.fail(error.what());
    }
  }
  if (file.contains("inference")) model.inference = read_inference(file["inference"], model, reader);
  return model;
}

void save_model(const Model& model, const std::string& path) { write_file_atomically(path, to_json(model)); }

Model load_model(const std::string& path) { return model_from_json(read_file(path), path); }

DenseMatrix<double> scores(const Model& model, const data::Features& features, ThreadPool& pool) {
  return std::visit([&](const auto& rows) { return scores(model.scaler.design<double>(rows), model.weights, pool); },
                    features);
}

}  // namespace lipschitzlr::linear
