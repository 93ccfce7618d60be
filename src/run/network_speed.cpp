#include "lipschitzlr/run/network_speed.hpp"

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::run {

std::string to_json(const std::vector<NetworkSpeed>& speeds) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NetworkSpeed& speed : speeds) {
    list.push_back({{"data", speed.data},
                    {"network", speed.network},
                    {"batch", speed.batch},
                    {"step_seconds", speed.step},
                    {"forward_seconds", speed.forward}});
  }
  return list.dump();
}

std::vector<NetworkSpeed> speeds_from(const std::string& json) {
  std::vector<NetworkSpeed> speeds;
  try {
    for (const nlohmann::json& entry : parse_json(json, "")) {
      speeds.push_back({entry.at("data"), entry.at("network"), entry.at("batch"), entry.at("step_seconds"),
                        entry.at("forward_seconds")});
    }
  } catch (const std::exception&) {
    throw Error(Fault::data, "the probe of the libtorch part gave no speeds; run it again, or without --budget");
  }
  return speeds;
}

}  // namespace lipschitzlr::run
