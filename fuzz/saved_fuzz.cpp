// Any bytes as the JSON that a training continues from, by the first byte: the state of a solver, that of a rate rule,
// the options in a record. Refused with an Error, or the same after being written and read again.

#include <cstdint>
#include <cstdlib>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/state.hpp"
#include "lipschitzlr/rate/registry.hpp"
#include "lipschitzlr/run/train_options.hpp"
#include "rate/saved.hpp"
#include "run/option_json.hpp"

namespace {

using namespace lipschitzlr;

template <class Scalar>
void check_state(const std::string& text) {
  const linear::State<Scalar> state = linear::state_from_json<Scalar>(text, "fuzz");
  check_fits(state, state.weights.rows(), state.weights.cols());
  const std::string written = to_json(state);
  if (to_json(linear::state_from_json<Scalar>(written, "again")) != written) std::abort();
}

void check_rule(const std::string& text) {
  const rate::Saved saved = rate::saved_from_json(text);
  const std::string written = rate::to_json(saved);
  if (rate::to_json(rate::saved_from_json(written)) != written) std::abort();
}

void check_options(const std::string& text) {
  run::TrainOptions options, again;
  read_json(options_of(options), parse_ordered_json(text, "fuzz"), "fuzz");
  check(options_of(options));
  read_json(options_of(again), to_json(options_of(options)), "again");
  if (!differences(options_of(options), options_of(again)).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    switch (bytes[0] % 4) {
      case 0:
        check_state<float>(text);
        break;
      case 1:
        check_state<double>(text);
        break;
      case 2:
        check_rule(text);
        break;
      default:
        check_options(text);
    }
  } catch (const Error&) {
  }
  return 0;
}
