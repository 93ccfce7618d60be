#include "lipschitzlr/run/prepare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/bound/weights.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/data/table/split.hpp"

namespace lipschitzlr::run {
namespace {

using linear::Family;

Family choose_family(const std::string& model, data::Table& table) {
  const bool wants_classes = model == "logistic" || model == "softmax";
  if (!table.is_classified() && (wants_classes || (model == "auto" && data::looks_like_classes(table)))) {
    data::make_classes(table);
  }
  if (model == "auto") {
    if (!table.is_classified()) return Family::linear;
    return table.labels.size() == 2 ? Family::logistic : Family::softmax;
  }
  const Family family = linear::family_from(model);
  if (family == Family::linear && table.is_classified()) {
    throw Error(Fault::usage, fmt::format("--model linear needs a numeric target, but \"{}\" has the classes {}",
                                          table.target_name, fmt::join(table.labels, ", ")));
  }
  if (family == Family::logistic && table.labels.size() != 2) {
    throw Error(Fault::usage, fmt::format("--model logistic needs two classes, but \"{}\" has {}; take --model softmax",
                                          table.target_name, table.labels.size()));
  }
  return family;
}

void check_trainable(const data::Table& table, Family family) {
  if (table.rows() < 2)
    throw Error(Fault::data, fmt::format("there is nothing to learn from {}", counted(table.rows(), "row")));
  if (family != Family::linear && table.labels.size() < 2) {
    throw Error(Fault::data, fmt::format("every row has the same class, \"{}\": there is nothing to tell apart",
                                         table.labels.empty() ? "" : table.labels.front()));
  }
}

data::Scaling choose_scaling(const std::string& name, const data::Table& table) {
  if (name != "auto") return data::scaling_from(name);
  return std::holds_alternative<DenseMatrix<double>>(table.features) ? data::Scaling::standard : data::Scaling::none;
}

bound::Tikhonov read_tikhonov(const std::string& text) {
  if (text.empty()) return {};
  if (const auto gamma = number_from(text)) return bound::Tikhonov(*gamma);
  data::ReadOptions options;
  options.has_target = false;
  const data::Table table = data::read_table(text, options);
  const auto* matrix = std::get_if<DenseMatrix<double>>(&table.features);
  if (matrix == nullptr)
    throw Error(Fault::data, fmt::format("{}: Gamma must be a table of numbers, not LIBSVM", text));
  if (matrix->rows() == 1) return bound::Tikhonov(Vector<double>(matrix->row(0).transpose()));
  if (matrix->cols() == 1) return bound::Tikhonov(Vector<double>(matrix->col(0)));
  return bound::Tikhonov(*matrix);
}

double raw_feature_guess(const data::Table& table) {
  return std::visit([](const auto& matrix) { return bound::weight_bound_estimate(matrix); }, table.features);
}

data::Table share_of_rows(const data::Table& table, const Communicator& communicator) {
  const auto [first, last] = share_of(table.rows(), communicator.rank(), communicator.size());
  std::vector<Index> rows(static_cast<std::size_t>(last - first));
  std::iota(rows.begin(), rows.end(), first);
  return data::take_rows(table, rows);
}

}  // namespace

data::Table load_table(const std::string& source, const data::ReadOptions& options) {
  const bool named = data::catalogue::find(source) != nullptr;
  // A folder that happens to have a data set's name does not hide it.
  const bool file = std::filesystem::exists(source) && !(named && std::filesystem::is_directory(source));
  if (source == "-" || file) return data::read_table(source, options);
  if (named) {
    const bool asked = options.target && !options.target_may_be_missing;
    if (asked || options.format != data::Format::detect || options.header) {
      throw Error(Fault::usage,
                  fmt::format("{} is a data set with a target of its own: --target, --format and --header are "
                              "for files; `lipschitzlr data path {}` gives the file",
                              source, source));
    }
    return data::catalogue::load(source);
  }
  throw Error(Fault::data,
              fmt::format("{}: there is no such file, and no data set of that name; `lipschitzlr data list` "
                          "shows the names",
                          source));
}

Prepared prepare(const DataChoice& choice) {
  data::Table table = load_table(choice.source, choice.read);
  Prepared prepared;
  prepared.setup.family = choose_family(choice.model, table);
  check_trainable(table, prepared.setup.family);
  if (choice.holdout > 0) {
    Random random(choice.seed);
    const data::Split split = data::split_rows(table, choice.holdout, random);
    prepared.train = data::take_rows(table, split.train);
    prepared.test = data::take_rows(table, split.test);
  } else {
    prepared.train = std::move(table);
  }
  const data::Table& train = prepared.train;
  prepared.setup.classes = prepared.setup.family == Family::softmax ? prepared.classes() : 1;
  prepared.setup.penalty.l2 = choice.l2;
  prepared.setup.penalty.tikhonov = read_tikhonov(choice.tikhonov);
  prepared.setup.weight_bound = choice.weight_bound.value_or(linear::default_weight_bound(
      prepared.setup.family, prepared.setup.classes, prepared.setup.penalty, raw_feature_guess(train)));
  prepared.scaler =
      data::Scaler::learn(choose_scaling(choice.scaling, train), train.features, choice.intercept, train.feature_names);
  return prepared;
}

std::string describe(const DataChoice& choice, const Prepared& prepared) {
  const data::Table& train = prepared.train;
  const std::string tested =
      prepared.test.rows() > 0 ? fmt::format(" ({} more set aside for testing)", prepared.test.rows()) : "";
  const std::string what = prepared.setup.family == Family::linear
                               ? fmt::format("of the number \"{}\"", train.target_name)
                               : fmt::format("of the {} classes of \"{}\"", train.labels.size(), train.target_name);
  std::vector<std::string> phrases = {
      fmt::format("{}: {}{},", choice.source == "-" ? "standard input" : choice.source, counted(train.rows(), "row"),
                  tested),
      counted(train.columns(), "feature") + (choice.intercept ? " and an intercept;" : ";"),
      fmt::format("{} regression {}", to_string(prepared.setup.family), what)};
  phrases.back() += choice.model == "auto" ? "," : ";";
  if (choice.model == "auto") phrases.push_back("chosen by the target (--model changes it);");
  phrases.push_back("scaling: " + data::to_string(prepared.scaler.kind));
  std::string sentence = wrap_items("", phrases, " ");
  sentence.pop_back();  // the last end of line is the caller's
  return sentence;
}

template <class Scalar>
std::unique_ptr<linear::Problem<Scalar>> make_problem(const Prepared& prepared, ThreadPool& pool,
                                                      Communicator* communicator) {
  using Matrix = typename linear::Problem<Scalar>::Matrix;
  const auto problem_of = [&](const data::Table& table) {
    Matrix design =
        std::visit([&](const auto& rows) { return Matrix(prepared.scaler.design<Scalar>(rows)); }, table.features);
    return std::make_unique<linear::Problem<Scalar>>(std::move(design), table.target.template cast<Scalar>(),
                                                     prepared.setup, pool, communicator);
  };
  return communicator == nullptr ? problem_of(prepared.train)
                                 : problem_of(share_of_rows(prepared.train, *communicator));
}

template std::unique_ptr<linear::Problem<float>> make_problem(const Prepared&, ThreadPool&, Communicator*);
template std::unique_ptr<linear::Problem<double>> make_problem(const Prepared&, ThreadPool&, Communicator*);

}  // namespace lipschitzlr::run
