#include "base/json.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

std::string fault_of(const std::string& text) {
  try {
    parse_json(text, "a.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
  return "none";
}

TEST(Json, IsReadInItsOrderOrSorted) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": 2})", "").dump(), R"({"a":2,"b":1})");
  EXPECT_EQ(parse_ordered_json(R"({"b": 1, "a": 2})", "").dump(), R"({"b":1,"a":2})");
}

TEST(Json, FaultsAreSentencesOfOurs) {
  EXPECT_EQ(fault_of("{\"a\": "), "a.json: is not valid JSON (byte 7)");
  EXPECT_EQ(fault_of(" \n"), "a.json: is empty");
  EXPECT_EQ(fault_of("1e999"), "a.json: holds a number that is too large");
  EXPECT_EQ(fault_of(std::string("{}\0", 3)), "a.json: is not valid JSON (byte 3)");
  EXPECT_THROW(
      {
        try {
          parse_json("[", "");
        } catch (const Error& error) {
          EXPECT_STREQ(error.what(), "is not valid JSON (byte 2)");
          throw;
        }
      },
      Error);
}

TEST(Json, NestingHasALimit) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_NO_THROW(parse_json(nested(100), ""));
  EXPECT_EQ(fault_of(nested(101)), "a.json: is nested more than 100 deep");
  EXPECT_EQ(fault_of(nested(1000000)), "a.json: is nested more than 100 deep");
  std::string deep_object = "1";
  for (int i = 0; i < 101; ++i) deep_object = "{\"a\\\"[\":" + deep_object + "}";
  EXPECT_EQ(fault_of(deep_object), "a.json: is nested more than 100 deep");
  // Brackets in a text do not count, whatever quotes are escaped in it.
  EXPECT_EQ(fault_of("[\"\\\\\", \"\\\"" + std::string(500, '[') + "\"]"), "none");
}

TEST(Json, FieldsAreTakenAsTheyStandThere) {
  const auto fields = [](const std::string& text, std::size_t most = 100) {
    std::string found;
    for (const JsonField& field : parse_json_fields(text, "a.json", most)) {
      found += field.name + "=" + field.value.dump() + " ";
    }
    return found;
  };
  EXPECT_EQ(fields(R"({"b": 1, "a": -2.5, "b": "x", "c": null, "d": true})"), R"(b=1 a=-2.5 b="x" c=null d=true )");
  EXPECT_EQ(fields(R"({"a": [1, {"x": 2}], "b": {"a": {"a": 1}}, "c": 3})"), "a=[] b={} c=3 ");
  EXPECT_EQ(fields("{}") + fields("[1, 2]") + fields(R"([{"a": 1}])") + fields("7"), "");
  EXPECT_EQ(fields(R"({"a": 1, "b": 2, "c": 3})", 2), "a=1 b=2 ");
  EXPECT_EQ(fields(R"({"a": 1, "b": [2], "c": 3)", 2), "a=1 b=[] ");  // read no further
  const auto fault = [&](const std::string& text) {
    try {
      fields(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  for (const std::string text : {"{\"a\": ", "{\"a\" 1}", " ", "{\"a\": 1e999}", "{} 1", "{\"a\": \"\xff\"}"}) {
    EXPECT_EQ(fault(text), fault_of(text)) << text;
  }
}

TEST(Json, FieldsOfAnotherTypeCountAsMissing) {
  const nlohmann::json object = parse_json(R"({"number": 2.5, "text": "x", "whole": 7, "large": 1e300})", "");
  EXPECT_EQ(number_or(object, "number", 0), 2.5);
  EXPECT_EQ(number_or(object, "text", -1), -1);
  EXPECT_EQ(number_or(object, "none", -1), -1);
  EXPECT_EQ(whole_or(object, "whole", 0), 7);
  EXPECT_EQ(whole_or(object, "large", 5), 5);
  EXPECT_EQ(whole_or(object, "none", 5), 5);
  EXPECT_EQ(text_or(object, "text"), "x");
  EXPECT_EQ(text_or(object, "number"), "2.5");
  EXPECT_EQ(text_or(object, "none", "-"), "-");
  EXPECT_EQ(text_or(parse_json("[1]", ""), "text", "-"), "-");
}

}  // namespace
}  // namespace lipschitzlr
