#include "lipschitzlr/linear/state.hpp"

#include <algorithm>
#include <limits>

#include "linear/weights_json.hpp"

namespace lipschitzlr::linear {

using nlohmann::json;

template <class Scalar>
void check_fits(const State<Scalar>& state, Index features, Index outputs) {
  const auto same = [&](const Weights<Scalar>& weights) {
    return weights.rows() == features && weights.cols() == outputs;
  };
  const auto fits = [&](const Weights<Scalar>& weights) { return weights.size() == 0 || same(weights); };
  if (!same(state.weights) || !fits(state.first) || !fits(state.second) || !fits(state.best)) {
    throw Error(Fault::data, fmt::format("the state to start from is not of {} x {} weights", features, outputs));
  }
  for (const Weights<double>& pair : state.pairs) {
    if (pair.rows() == features && pair.cols() == outputs && state.pairs.size() % 2 == 0) continue;
    throw Error(Fault::data, "the state to start from has pairs of another size than its weights");
  }
  if (state.epoch < 0 || state.step < 0 || state.quiet < 0 || state.best_epoch < 0 || !(state.momentum >= 1)) {
    throw Error(Fault::data, "the state to start from has a count below zero or a momentum below one");
  }
}

template <class Scalar>
std::string to_json(const State<Scalar>& state) {
  json pairs = json::array();
  for (const Weights<double>& pair : state.pairs) pairs.push_back(rows_of(pair));
  return json{{"solver", state.solver},
              {"pairs", std::move(pairs)},
              {"weights", rows_of(state.weights)},
              {"first", rows_of(state.first)},
              {"second", rows_of(state.second)},
              {"momentum", state.momentum},
              {"best", rows_of(state.best)},
              {"best_loss", state.best_loss},
              {"best_epoch", state.best_epoch},
              {"epoch", state.epoch},
              {"step", state.step},
              {"quiet", state.quiet},
              {"rule", state.rule},
              {"random", state.random}}
      .dump();
}

namespace {

[[noreturn]] void fail_resume(const std::string& name) {
  throw Error(Fault::data, fmt::format("{}: the state to resume from is damaged; fit again without --resume", name));
}

}  // namespace

template <class Scalar>
State<Scalar> state_from_json(const std::string& text, const std::string& name) {
  try {
    const json object = json::parse(text);
    const auto weights = [&](const char* field) {
      return weights_from<Scalar>(object.at(field).template get<std::vector<std::vector<double>>>());
    };
    const auto count = [&](const char* field) {
      constexpr std::int64_t kMost = std::int64_t{1} << 50;  // more than any training takes
      const auto number = object.at(field).is_number_integer() ? object.at(field).template get<std::int64_t>() : -1;
      if (number < 0 || number > kMost) fail_resume(name);
      return number;
    };
    State<Scalar> state;
    state.solver = object.value("solver", "");  // states written by version 0.1 have neither
    for (const json& pair : object.value("pairs", json::array())) {
      state.pairs.push_back(weights_from<double>(pair.get<std::vector<std::vector<double>>>()));
    }
    state.weights = weights("weights");
    state.first = weights("first");
    state.second = weights("second");
    state.momentum = object.at("momentum").template get<double>();
    if (object.contains("best")) {  // older states were without early stopping
      state.best = weights("best");
      state.best_loss = object.at("best_loss").template get<double>();
      state.best_epoch = count("best_epoch");
    }
    state.epoch = count("epoch");
    state.step = count("step");
    state.quiet = static_cast<int>(std::min<std::int64_t>(count("quiet"), std::numeric_limits<int>::max()));
    state.rule = object.at("rule").template get<std::string>();
    state.random = object.at("random").template get<std::string>();
    return state;
  } catch (const json::exception&) {
    fail_resume(name);
  }
}

template void check_fits(const State<float>&, Index, Index);
template void check_fits(const State<double>&, Index, Index);
template std::string to_json(const State<float>&);
template std::string to_json(const State<double>&);
template State<float> state_from_json(const std::string&, const std::string&);
template State<double> state_from_json(const std::string&, const std::string&);

}  // namespace lipschitzlr::linear
