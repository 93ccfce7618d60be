#include "capi/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "base/numbers.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::capi {
namespace {

struct Entry {
  const char* name;
  std::string expected;
  std::function<bool(Options&, const std::string&)> set;  // false: the value is not what is expected
};

template <class Number>
auto number(Number least, Number most, const std::function<void(Options&, Number)>& assign) {
  return [=](Options& options, const std::string& text) {
    const std::optional<Number> given = number_from<Number>(text);
    if (!given || *given < least || *given > most) return false;
    assign(options, *given);
    return true;
  };
}

bool set_scaling(Options& options, const std::string& name) {
  options.scaling.reset();
  if (name == "auto") return true;
  try {
    options.scaling = data::scaling_from(name);
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool set_solver(Options& options, const std::string& name) {
  const auto* const found = std::find_if(std::begin(linear::kSolvers), std::end(linear::kSolvers),
                                         [&](linear::Solver solver) { return to_string(solver) == name; });
  if (found == std::end(linear::kSolvers)) return false;
  options.solver = *found;
  return true;
}

std::string solver_names() {
  std::vector<std::string> names;
  for (const linear::Solver solver : linear::kSolvers) names.push_back(to_string(solver));
  return fmt::format("one of {}", fmt::join(names, ", "));
}

const std::vector<Entry>& entries() {
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max();
  static const std::string kNumber = "a number of 0 or more";
  static const std::vector<Entry> kEntries = {
      {"scale", "one of auto, none, sum, standard, minmax", set_scaling},
      {"intercept", "yes or no",
       [](Options& options, const std::string& text) {
         options.intercept = text == "yes";
         return text == "yes" || text == "no";
       }},
      {"l2", "auto, or a number of 0 or more",
       [](Options& options, const std::string& text) {
         options.l2 = number_from(text);
         return text == "auto" || options.l2.value_or(-1) >= 0;
       }},
      {"l1", kNumber, number<double>(0, kMost, [](Options& options, double given) { options.l1 = given; })},
      {"l1_share", "a number from 0 to 1",
       number<double>(0, 1, [](Options& options, double given) { options.l1_share = given; })},
      {"solver", solver_names(), set_solver},
      {"epochs", "a whole number of 0 or more",
       number<std::int64_t>(0, kMostWhole, [](Options& options, std::int64_t given) { options.epochs = given; })},
      {"tolerance", kNumber,
       number<double>(0, kMost, [](Options& options, double given) { options.tolerance = given; })},
      {"folds", "a whole number from 2 to 1000",
       number<int>(2, 1000, [](Options& options, int given) { options.path.folds = given; })},
      {"path", "a whole number from 2 to 1000",
       number<int>(2, 1000, [](Options& options, int given) { options.path.values = given; })},
      {"seed", "a whole number of 0 or more",
       number<std::int64_t>(
           0, kMostWhole,
           [](Options& options, std::int64_t given) { options.path.seed = static_cast<std::uint64_t>(given); })},
      {"threads", "a whole number from 0 to 1024",
       number<int>(0, 1024, [](Options& options, int given) { options.threads = static_cast<unsigned>(given); })},
      {"note", "text",
       [](Options& options, const std::string& text) {
         options.note = text;
         return true;
       }},
  };
  return kEntries;
}

}  // namespace

void set(Options& options, const std::string& name, const std::string& value) {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    names.emplace_back(entry.name);
    if (name != entry.name) continue;
    if (entry.set(options, value)) return;
    throw Error(Fault::usage, fmt::format("{}: \"{}\" is not {}", name, value, entry.expected));
  }
  throw Error(Fault::usage, fmt::format("there is no option \"{}\"; the options are {}", name, fmt::join(names, ", ")));
}

}  // namespace lipschitzlr::capi
