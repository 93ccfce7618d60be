#pragma once
// A JSON object read field by field: every error names the file and the field, and a field nobody asked for is one.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace lipschitzlr::experiment {

class Fields {
 public:
  Fields(const nlohmann::json& object, std::string file, std::string place = "");

  bool has(const std::string& name) const { return object_.contains(name); }
  Fields object(const std::string& name);
  std::string text(const std::string& name);  // not empty
  double number(const std::string& name);
  double positive(const std::string& name);
  double percent(const std::string& name);      // above 0, to 100
  std::int64_t count(const std::string& name);  // a whole number, 1 or more
  bool flag(const std::string& name);
  std::vector<std::string> texts(const std::string& name);
  std::vector<double> numbers(const std::string& name);

  // Throws Error (data): "table1/iris.json: training.start must be zero or normal".
  [[noreturn]] void refuse(const std::string& name, const std::string& reason) const;

  void finish() const;  // refuses what was not asked for

 private:
  const nlohmann::json& value(const std::string& name);

  const nlohmann::json& object_;
  std::string file_, place_;  // place: "training." inside the object of that name
  std::set<std::string> asked_;
};

}  // namespace lipschitzlr::experiment
