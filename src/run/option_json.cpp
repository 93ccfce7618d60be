#include "run/option_json.hpp"

#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;

OptionValue value_from(const ordered_json& json, Member::Kind kind) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer() && kind != Member::Kind::real) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_array() && kind == Member::Kind::words) return json.get<std::vector<std::string>>();
  return {};
}

}  // namespace

ordered_json to_json(const Options& options) {
  ordered_json json = ordered_json::object();
  for (const Option& option : options) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
            json[option.name] = nullptr;
          } else {
            json[option.name] = value;
          }
        },
        option.member.get());
  }
  return json;
}

void read_json(const Options& options, const ordered_json& json, const std::string& file) {
  for (const Option& option : options) {
    const auto found = json.find(option.name);
    if (found == json.end() ? option.is(kAddedLater) : found->is_null()) continue;
    if (found == json.end() || !option.member.set(value_from(*found, option.member.kind))) {
      throw Error(Fault::data, fmt::format("{}: the option \"{}\" is missing or damaged", file, option.name));
    }
  }
}

}  // namespace lipschitzlr::run
