#include "lipschitzlr/experiment/curve.hpp"

#include <algorithm>

#include "embedded/curves.hpp"
#include "experiment/fields.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::experiment {
namespace {

struct Curves {
  std::string source;
  std::vector<Curve> list;
};

Curves read_curves() {
  const embedded::File& file = embedded::curves()[0];
  const std::string name(file.name);
  const nlohmann::json json = parse_json(file.content, name);
  Curves curves{json.at("source"), {}};
  for (const auto& [key, fields] : json.at("curves").items()) {
    Curve curve{key, fields.at("val_accuracy"), fields.at("accuracy"), fields.at("loss"), fields.at("val_loss"), {}};
    if (fields.contains("rate")) curve.rate = fields.at("rate").get<std::vector<double>>();
    curves.list.push_back(std::move(curve));
  }
  return curves;
}

const Curves& curves() {
  static const Curves all = read_curves();
  return all;
}

}  // namespace

const std::vector<Curve>& authors_curves() { return curves().list; }

const std::string& authors_curves_source() { return curves().source; }

const Curve* authors_curve(const std::string& name) {
  const std::vector<Curve>& list = authors_curves();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Curve& curve) { return curve.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace lipschitzlr::experiment
