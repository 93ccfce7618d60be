#include "data/table/column_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

// Columns by name or number, for one option.
class ColumnFinder {
 public:
  ColumnFinder(const std::vector<std::string>& names, bool has_header, Index target, const std::string& file)
      : names_(names), has_header_(has_header), target_(target), file_(file) {}

  // -1 when there is no such name.
  Index find_name(const std::string& wanted) const {
    const auto found = std::find(names_.begin(), names_.end(), wanted);
    return has_header_ && found != names_.end() ? found - names_.begin() : -1;
  }

  std::size_t find(const char* option, const std::string& wanted) const {
    const auto columns = static_cast<Index>(names_.size());
    Index column = find_name(wanted);
    const std::optional<Index> number = column < 0 ? number_from<Index>(wanted) : std::nullopt;
    if (number && *number != 0 && std::abs(*number) <= columns) column = *number > 0 ? *number - 1 : columns + *number;
    if (column < 0) {
      const std::string why =
          has_header_ && !number ? column_advice(wanted, names_) : fmt::format("give a number from 1 to {}", columns);
      refuse(option, wanted, "there is no such column: " + why);
    }
    if (column == target_) refuse(option, wanted, "that is the target; name another one with --target");
    return static_cast<std::size_t>(column);
  }

 private:
  [[noreturn]] void refuse(const char* option, const std::string& wanted, const std::string& why) const {
    throw Error(Fault::usage, fmt::format("{}: {} {}: {}", file_, option, in_quotes(wanted), why));
  }

  const std::vector<std::string>& names_;
  bool has_header_;
  Index target_;
  const std::string& file_;
};

// Other columns than a model's are left out. When the file has none of them, all stay: whoever matches them to the
// model will say so. A model knows a column without a name by the one that it was given.
void plan_for_model(const std::vector<std::string>& names, const std::vector<KnownColumn>& known, Index target,
                    std::vector<ColumnPlan>& plans) {
  std::unordered_map<std::string, std::size_t> place_of;
  std::size_t place = 0;
  for (std::string& name : names_of_features(names, std::vector<ColumnPlan>(names.size()), target)) {
    if (static_cast<Index>(place) == target) ++place;
    place_of.emplace(std::move(name), place++);
  }
  std::vector<ColumnPlan> found(plans.size(), {.skipped = true});
  bool any = false;
  for (const KnownColumn& column : known) {
    const auto one = place_of.find(column.name);
    if (one == place_of.end()) continue;
    found[one->second] = {false, &column};
    any = true;
  }
  if (any) plans = std::move(found);
}

}  // namespace

std::vector<ColumnPlan> plan_columns(const std::vector<std::string>& names, bool has_header, Index target,
                                     const ReadOptions& options, const std::string& file) {
  std::vector<ColumnPlan> plans(names.size());
  const ColumnFinder finder(names, has_header, target, file);
  if (!options.only.empty()) {
    for (ColumnPlan& plan : plans) plan.skipped = true;
    for (const std::string& name : options.only) plans[finder.find("--only", name)].skipped = false;
  }
  for (const std::string& name : options.ignore) plans[finder.find("--ignore", name)].skipped = true;
  if (options.only_known) {
    plan_for_model(names, options.known, target, plans);
  } else if (!options.known_by_place) {
    for (const KnownColumn& known : options.known) plans[finder.find("--categorical", known.name)].known = &known;
  } else {
    auto known = options.known.begin();
    for (std::size_t i = 0; i < plans.size() && known != options.known.end(); ++i) {
      if (static_cast<Index>(i) != target) plans[i].known = &*known++;
    }
  }
  return plans;
}

std::string column_advice(const std::string& wanted, const std::vector<std::string>& names) {
  if (const std::string* meant = closest(wanted, names)) return fmt::format("did you mean {}?", in_quotes(*meant));
  constexpr std::size_t kShown = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) list += (i > 0 ? ", " : "") + in_quotes(names[i]);
  return fmt::format("the columns are {}{}", list, names.size() > kShown ? ", ..." : "");
}

std::vector<std::string> names_of_features(const std::vector<std::string>& names, const std::vector<ColumnPlan>& plans,
                                           Index target) {
  const std::unordered_set<std::string> taken(names.begin(), names.end());
  std::vector<std::string> features;
  Index number = 0;
  for (std::size_t column = 0; column < names.size(); ++column) {
    if (static_cast<Index>(column) == target) continue;
    ++number;
    if (plans[column].skipped) continue;
    std::string name = names[column];
    if (name.empty()) {
      name = fmt::format("x{}", number);
      while (taken.contains(name)) name += '_';
    }
    features.push_back(std::move(name));
  }
  return features;
}

}  // namespace lipschitzlr::data
