#include "lipschitzlr/linear/model.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

using nlohmann::json;

Model small_model() {
  Model model;
  model.family = Family::softmax;
  model.feature_names = {"a", "b"};
  model.target_name = "kind";
  model.labels = {"x", "y", "z\"\n"};
  model.scaler = data::Scaler::learn(data::Scaling::standard, DenseMatrix<double>{{1, 2}, {3, 7}}, true);
  model.weights = Weights<double>{{0.1, 1.0 / 3, 1e-310}, {-2, 0, 5e300}, {1, 2, 3}};
  return model;
}

std::string refusal(const std::string& text) {
  try {
    model_from_json(text, "m.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "accepted";
}

TEST(Model, AFileKeepsEveryBit) {
  Model model = small_model();
  model.training = R"({"loss":0.25})";
  const Model back = model_from_json(to_json(model), "m.json");
  EXPECT_EQ(back.family, model.family);
  EXPECT_EQ(back.feature_names, model.feature_names);
  EXPECT_EQ(back.labels, model.labels);
  EXPECT_EQ(back.weights, model.weights);
  EXPECT_EQ(back.scaler.factors, model.scaler.factors);
  EXPECT_EQ(back.scaler.offsets, model.scaler.offsets);
  EXPECT_EQ(back.training, model.training);
  EXPECT_EQ(to_json(back), to_json(model));
}

TEST(Model, AFileKeepsWhetherItsColumnsHadNames) {
  Model model = small_model();
  const auto read_back = [&] { return model_from_json(to_json(model), "m.json").has_names; };
  EXPECT_TRUE(read_back());
  model.has_names = false;
  EXPECT_FALSE(read_back());
  // Older files do not say it: names that are only numbers were made up.
  const auto read_old = [&] {
    json file = json::parse(to_json(model));
    file.erase("has_names");
    return model_from_json(file.dump(), "m.json").has_names;
  };
  EXPECT_TRUE(read_old());
  model.feature_names = {"x1", "x2"};
  EXPECT_FALSE(read_old());
}

TEST(Model, ScoresUseTheScalingAndTheIntercept) {
  ThreadPool pool(1);
  const DenseMatrix<double> got = scores(small_model(), DenseMatrix<double>{{2, 4.5}, {3, 4.5}}, pool);
  // Row 1 is the mean, so only the intercept speaks; row 2 is one deviation above it in the first feature.
  EXPECT_NEAR(got(0, 0), 1, 1e-12);
  EXPECT_NEAR(got(0, 1), 2, 1e-12);
  EXPECT_NEAR(got(1, 0), 1.1, 1e-12);
  EXPECT_THROW(scores(small_model(), DenseMatrix<double>{{1, 2, 3}}, pool), Error);
}

TEST(Model, WhatIsNotAModelIsRefusedWithTheReason) {
  const auto with = [](auto change) {
    json file = json::parse(to_json(small_model()));
    change(file);
    return refusal(file.dump());
  };
  EXPECT_NE(refusal("{\"format\": ").find("it is not valid JSON (byte 12)"), std::string::npos);
  EXPECT_NE(refusal("{\"version\": 1e999999}").find("too large"), std::string::npos);
  // A value that deep overflows the stack of whoever copies or prints it.
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  for (const char* field : {"training", "resume"}) {
    std::string text = to_json(small_model());
    text.insert(text.find('{') + 1, "\"" + std::string(field) + "\": " + deep + ",");
    EXPECT_NE(refusal(text).find("it is nested more than 100 deep"), std::string::npos);
  }
  EXPECT_NE(refusal("[1, 2]").find("not written by `lipschitzlr fit`"), std::string::npos);
  EXPECT_NE(refusal("{}").find("not written by `lipschitzlr fit`"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["version"] = 2; }).find("its version is 2"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["version"] = 1.7; }).find("\"version\""), std::string::npos);
  EXPECT_NE(with([](json& f) { f["version"] = true; }).find("\"version\""), std::string::npos);
  EXPECT_NE(with([](json& f) { f["version"] = 99999999999; }).find("its version is 99999999999"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["labels"][1] = "x"; }).find("twice"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["training"] = 5; }).find("\"training\""), std::string::npos);
  EXPECT_NE(with([](json& f) { f["version"] = "1"; }).find("\"version\""), std::string::npos);
  EXPECT_NE(with([](json& f) { f["version"] = 0; }).find("no version 0"), std::string::npos);
  EXPECT_NE(with([](json& f) { f.erase("weights"); }).find("\"weights\" is missing"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["weights"][1] = json::array({1}); }).find("row 2 of the weights"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["weights"].erase(0); }).find("weights for 2 columns, not 3"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["weights"][0][0] = "1"; }).find("\"weights\""), std::string::npos);
  EXPECT_NE(with([](json& f) { f["family"] = "quadratic"; }).find("quadratic"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["scaling"] = 3; }).find("\"scaling\""), std::string::npos);
  EXPECT_NE(with([](json& f) { f["scaling"]["kind"] = "log"; }).find("log"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["scaling"]["factors"].erase(0); }).find("factors"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["labels"].erase(0); }).find("one output per label"), std::string::npos);
  EXPECT_NE(with([](json& f) { f["family"] = "logistic"; }).find("two labels"), std::string::npos);
}

TEST(Model, AMissingFileIsNamed) { EXPECT_THROW(load_model("/no/such/model.json"), Error); }

}  // namespace
}  // namespace lipschitzlr::linear
