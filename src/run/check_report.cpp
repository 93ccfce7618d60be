#include "run/check_report.hpp"

#include <fmt/format.h>

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;
using nn::CheckCounts;

struct Count {
  const char* name;
  std::int64_t CheckCounts::*member;
};
constexpr Count kCounts[] = {{"last_layer_largest", &CheckCounts::last_largest},
                             {"update_within_1", &CheckCounts::small_updates},
                             {"head_over_published", &CheckCounts::over_published},
                             {"head_over_certified", &CheckCounts::over_certified},
                             {"head_over_tight", &CheckCounts::over_tight}};

}  // namespace

void add_check(ordered_json& line, const CheckCounts& counts) {
  line["checked_steps"] = counts.steps;
  if (counts.steps == 0) return;
  for (const Count& count : kCounts) {
    line[count.name] = static_cast<double>(counts.*count.member) / static_cast<double>(counts.steps);
  }
  line["update_norm"] = counts.update;
  line["share_of_published"] = counts.published;
  line["share_of_certified"] = counts.certified;
  line["share_of_tight"] = counts.tight;
  for (const auto& [layer, norm] : counts.gradients) line["gradient_" + layer] = norm;
}

void add_counts(CheckCounts& total, const CheckCounts& epoch) {
  total.steps += epoch.steps;
  for (const Count& count : kCounts) total.*count.member += epoch.*count.member;
}

ordered_json to_json(const CheckCounts& total) {
  ordered_json json = {{"steps", total.steps}};
  for (const Count& count : kCounts) json[count.name] = total.*count.member;
  return json;
}

std::string check_sentence(const CheckCounts& total) {
  return fmt::format(
      "Checked {} steps: the last layer had the largest gradient in {}, the weights moved by at most 1 in {}; the "
      "gradient of the last layer was above the published constant in {}, above the certified one in {}, above the "
      "tight "
      "one in {}.",
      total.steps, total.last_largest, total.small_updates, total.over_published, total.over_certified,
      total.over_tight);
}

}  // namespace lipschitzlr::run
