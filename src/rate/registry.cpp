#include "lipschitzlr/rate/registry.hpp"

#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/rate/adamo.hpp"
#include "lipschitzlr/rate/auto_adam.hpp"
#include "lipschitzlr/rate/constant.hpp"
#include "lipschitzlr/rate/rmsprop.hpp"
#include "lipschitzlr/rate/sgd.hpp"
#include "rate/saved.hpp"

namespace lipschitzlr::rate {
namespace {

struct Entry {
  RuleInfo info;
  std::unique_ptr<Rule> (*make)(const RuleOptions&);
};

template <class Kind>
std::unique_ptr<Rule> make(const RuleOptions& options) {
  return std::make_unique<Kind>(options);
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list{
      {{"constant", "a rate given by hand"}, make<Constant>},
      {{"sgd", "gradient descent, rate 1/G"}, make<Sgd>},
      {{"adamo", "momentum as an average, rate 1/K with K the average of G"}, make<AdaMo>},
      {{"rmsprop", "adaptive RMSprop, rate (sqrt(K) + epsilon)/G with K the average of S"}, make<RmsProp>},
      {{"auto-adam", "Adam, rate (sqrt(K2) + epsilon)/K1 with K1, K2 the averages of G, S"}, make<AutoAdam>},
  };
  return list;
}

}  // namespace

std::vector<RuleInfo> rules() {
  std::vector<RuleInfo> infos;
  for (const Entry& entry : entries()) infos.push_back(entry.info);
  return infos;
}

std::unique_ptr<Rule> make_rule(const std::string& name, const RuleOptions& options) {
  std::string names;
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry.make(options);
    names += (names.empty() ? "" : ", ") + entry.info.name;
  }
  throw Error(Fault::usage, fmt::format("there is no rate rule '{}'; choose one of {}", name, names));
}

std::unique_ptr<Rule> load_rule(const std::string& text) {
  const Saved saved = saved_from_json(text);
  for (const Entry& entry : entries()) {
    if (entry.info.name != saved.rule) continue;
    std::unique_ptr<Rule> rule = entry.make(saved.options);
    rule->load(text);
    return rule;
  }
  throw Error(Fault::data,
              fmt::format("the saved state is of a rate rule '{}' that this program does not know", saved.rule));
}

}  // namespace lipschitzlr::rate
