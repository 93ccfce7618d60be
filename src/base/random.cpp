#include "lipschitzlr/base/random.hpp"

#include <cmath>
#include <numbers>
#include <sstream>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {

double Random::uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t Random::below(std::uint64_t bound) {
  // Numbers under 2^64 mod bound would make the small remainders more likely: draw again.
  const std::uint64_t unfair = -bound % bound;
  std::uint64_t draw = engine_();
  while (draw < unfair) draw = engine_();
  return draw % bound;
}

std::string Random::save() const {
  std::ostringstream out;
  out << engine_;
  return out.str();
}

void Random::load(const std::string& state) {
  std::istringstream in(state);
  std::mt19937_64 engine;
  in >> engine;
  if (!in) throw Error(Fault::data, "the saved state of the random generator is damaged; start again from a seed");
  engine_ = engine;
}

}  // namespace lipschitzlr
