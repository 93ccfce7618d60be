#include "lipschitzlr/rate/constant.hpp"

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {

Constant::Constant(const RuleOptions& options) : Rule(options) {
  if (!options.rate) throw Error(Fault::usage, "the rule constant needs the option rate");
  if (options.first_rate) throw Error(Fault::usage, "the rule constant has no first-epoch rate; leave out first_rate");
}

}  // namespace lipschitzlr::rate
