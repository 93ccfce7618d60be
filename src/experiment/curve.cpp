#include "lipschitzlr/experiment/curve.hpp"

#include <map>

#include "base/json.hpp"
#include "embedded/curves.hpp"

namespace lipschitzlr::experiment {
namespace {

struct Curves {
  std::string source;
  std::map<std::string, run::Record> by_name;
};

const Curves& curves() {
  static const Curves all = [] {
    const embedded::File& file = embedded::curves()[0];
    const nlohmann::json json = parse_json(file.content, std::string(file.name));
    Curves read{json.at("source"), {}};
    for (const auto& [name, columns] : json.at("curves").items()) {
      run::Record& record = read.by_name[name];
      record.columns = columns;
      const std::size_t epochs = record.column("val_accuracy").size();
      for (std::size_t epoch = 1; epoch <= epochs; ++epoch) {
        record.columns["epoch"].push_back(static_cast<double>(epoch));
      }
    }
    return read;
  }();
  return all;
}

}  // namespace

const std::string& authors_curves_source() { return curves().source; }

const run::Record* authors_curve(const std::string& name) {
  const auto found = curves().by_name.find(name);
  return found == curves().by_name.end() ? nullptr : &found->second;
}

}  // namespace lipschitzlr::experiment
