#include "lipschitzlr/linear/model.hpp"

#include <gtest/gtest.h>

#include <functional>
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

// Of the columns n (a number), c (a category) and d (a date).
Model encoded_model() {
  data::ReadOptions options;
  options.raw = true;
  const data::Table table =
      data::parse_table("n,c,d,y\n1,u,2024-01-01,1\n,v,2024-02-02,2\n3,u,,3\n4,v,,5\n", "t", options);
  Model model;
  model.encoder = data::Encoder::learn(table, {.all_levels = false});
  for (const data::Encoder::Feature& feature : model.encoder.features()) model.feature_names.push_back(feature.name);
  const std::size_t columns = model.feature_names.size() + 1;
  model.scaler = {data::Scaling::none, true, std::vector<double>(columns, 0.0), std::vector<double>(columns, 1.0)};
  model.weights = Weights<double>::Ones(static_cast<Index>(columns), 1);
  return model;
}

TEST(Model, AFileKeepsHowColumnsBecomeFeatures) {
  const Model model = encoded_model();
  const std::string text = to_json(model);
  EXPECT_EQ(json::parse(text)["version"], 2);
  EXPECT_EQ(json::parse(to_json(small_model()))["version"], 1);
  const Model back = model_from_json(text, "m.json");
  EXPECT_EQ(to_json(back), text);
  ASSERT_EQ(back.encoder.columns.size(), 3U);
  EXPECT_EQ(back.encoder.columns[0].fill, model.encoder.columns[0].fill);
  EXPECT_TRUE(back.encoder.columns[0].marks_gaps);
  EXPECT_EQ(back.encoder.columns[1].levels.names, (std::vector<std::string>{"u", "v"}));
  EXPECT_EQ(back.encoder.columns[1].levels.reference, 0);
  EXPECT_EQ(back.encoder.columns[2].kind, data::EncodedColumn::Kind::date);
}

TEST(Model, ColumnsThatDoNotMakeTheFeaturesAreRefused) {
  const auto with = [](auto change) {
    json file = json::parse(to_json(encoded_model()));
    change(file["columns"], file["columns"]["list"]);
    return refusal(file.dump());
  };
  EXPECT_EQ(with([](json&, json&) {}), "accepted");
  EXPECT_NE(with([](json&, json& list) { list.erase(1); }).find("do not make its features"), std::string::npos);
  EXPECT_NE(with([](json&, json& list) { list[1]["levels"]["names"][1] = "w"; }).find("features"), std::string::npos);
  const std::string damaged = "the field \"columns\" is not what a model has there";
  for (const auto& change : std::vector<std::function<void(json&, json&)>>{
           [](json&columns, json&) { columns = 3; }, [](json&columns, json&) { columns.erase("width"); },
           [](json&columns, json&) { columns["width"] = 1; }, [](json&columns, json&) { columns["width"] = 1e18; },
           [](json&columns, json&) { columns["missing"] = "zero"; }, [](json&, json&list) { list = 5; },
           [](json&, json&list) { list[0].erase("name"); }, [](json&, json&list) { list[0]["kind"] = "colour"; },
           [](json&, json&list) { list[0]["place"] = -1; }, [](json&, json&list) { list[0]["fill"] = "1"; },
           [](json&, json&list) { list[0]["has_other"] = true; }, [](json&, json&list) { list[1].erase("levels"); },
           [](json&, json&list) { list[1]["levels"]["reference"] = 2; },
           [](json&, json&list) { list[1]["levels"]["reference"] = -2; },
           [](json&, json&list) { list[1]["levels"]["names"][0] = "v"; },
           [](json&, json&list) { list[1]["levels"]["names"] = json::array(); },
           [](json&, json&list) { list[2].erase("months"); }}) {
    EXPECT_NE(with(change).find(damaged), std::string::npos) << with(change);
  }
  json file = json::parse(to_json(encoded_model()));
  file.erase("columns");
  EXPECT_NE(refusal(file.dump()).find("\"columns\" is missing"), std::string::npos);
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
  EXPECT_NE(with([](json& f) { f["version"] = 3; }).find("its version is 3"), std::string::npos);
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
