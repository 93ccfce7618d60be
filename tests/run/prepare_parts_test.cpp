// What several processes learn of the rows that each has, against what one learns of all of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/thread_communicator.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/run/prepare.hpp"
#include "run/fit_summary.hpp"

namespace lipschitzlr::run {
namespace {

// Numbers with gaps, a boolean, a date, levels, weights; the rows are sorted, so that parts are unlike one another.
std::string table_of(Index rows, bool classes) {
  Random random(5);
  std::string text = "a,b,gap,yes,day,city,w,y\n";
  for (Index row = 0; row < rows; ++row) {
    const auto place = static_cast<std::uint64_t>(row);
    const double a = random.normal() + static_cast<double>(row) / 10;
    text += fmt::format(
        "{},{},{},{},2024-{:02}-1{},city {},{},{}\n", a, 1e6 + random.normal(),
        random.below(4) == 0 ? "" : fmt::format("{}", random.normal()),
        random.below(9) == 0   ? "?"
        : random.below(2) == 0 ? "yes"
                               : "no",
        1 + place * 12 / static_cast<std::uint64_t>(rows), random.below(9),
        place * 5 / static_cast<std::uint64_t>(rows), 1 + random.below(3),
        classes ? std::string(random.below(3) == 0 ? "no" : "yes") : fmt::format("{}", 2 * a + random.normal()));
  }
  return text;
}

// All that is learned, and the rows, as numbers.
struct Learned {
  std::vector<std::string> features;
  std::vector<double> scaling, train, test, weights;
  double bound = 0;
  std::string fingerprint;
  Index train_rows = 0, test_rows = 0;
};

Learned learn(const DataOptions& options, Communicator* communicator) {
  const Prepared prepared = prepare(options, communicator);
  Learned learned{prepared.train.feature_names,
                  prepared.scaler.offsets,
                  {},
                  {},
                  {},
                  prepared.setup.weight_bound,
                  fingerprint(prepared, communicator),
                  prepared.train_rows,
                  prepared.test_rows};
  learned.scaling.insert(learned.scaling.end(), prepared.scaler.factors.begin(), prepared.scaler.factors.end());
  const auto rows_of = [](const data::Table& table) {
    std::vector<double> numbers;
    if (table.feature_names.empty()) return numbers;
    const DenseMatrix<double> rows = data::to_dense(table.features);
    for (Index row = 0; row < rows.rows(); ++row) {
      for (Index j = 0; j < rows.cols(); ++j) numbers.push_back(rows(row, j));
      numbers.push_back(table.target[row]);
    }
    return numbers;
  };
  learned.train = all_gather(communicator, rows_of(prepared.train));
  learned.test = all_gather(communicator, rows_of(prepared.test));
  learned.weights = all_gather(communicator, {prepared.train_weights.begin(), prepared.train_weights.end()});
  return learned;
}

class PrepareParts : public testing::Test {
 protected:
  PrepareParts() { std::filesystem::create_directory(folder_); }
  ~PrepareParts() override { std::filesystem::remove_all(folder_); }

  DataOptions options_for(const std::string& content) const {
    DataOptions options;
    options.source = (folder_ / "t.csv").string();
    options.read.threads = 1;
    write_file_atomically(options.source, content);
    return options;
  }

  static void expect_same(const DataOptions& options) {
    const Learned one = learn(options, nullptr);
    for (const int size : {2, 3, 6}) {
      const auto all =
          test::run_threads<Learned>(size, [&](Communicator& communicator) { return learn(options, &communicator); });
      for (const Learned& part : all) {
        EXPECT_EQ(part.features, one.features);
        EXPECT_EQ(part.train, one.train) << "other rows, or other bits of them, would be dealt into other folds";
        EXPECT_EQ(part.test, one.test);
        EXPECT_EQ(part.weights, one.weights);
        EXPECT_EQ(part.bound, one.bound) << "a resumed run expects its bits";
        EXPECT_EQ(part.fingerprint, one.fingerprint);
        EXPECT_EQ(std::pair(part.train_rows, part.test_rows), std::pair(one.train_rows, one.test_rows));
        ASSERT_EQ(part.scaling.size(), one.scaling.size());
        for (std::size_t i = 0; i < one.scaling.size(); ++i) {
          EXPECT_NEAR(part.scaling[i], one.scaling[i], 1e-12 * std::abs(one.scaling[i])) << i;
        }
        EXPECT_EQ(part.scaling, all[0].scaling) << "all processes need the same bits";
      }
    }
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("prepare_parts_test." + std::to_string(::getpid()));
};

TEST_F(PrepareParts, LearnOfNumbersWhatOneLearns) {
  DataOptions options = options_for(table_of(230, false));
  expect_same(options);
  options.holdout = 0.3;
  options.weight = "w";
  expect_same(options);
  for (const data::Scaling scaling : {data::Scaling::none, data::Scaling::column_sum, data::Scaling::min_max}) {
    options.scaling = scaling;
    expect_same(options);
  }
}

TEST_F(PrepareParts, LearnOfClassesWhatOneLearns) {
  DataOptions options = options_for(table_of(230, true));
  options.class_weight = "balanced";
  options.holdout = 0.2;
  expect_same(options);
  options.encoding.missing = data::Missing::median;
  options.encoding.all_levels = false;
  options.encoding.max_levels = 3;
  expect_same(options);
  options.encoding.missing = data::Missing::drop;
  options.weight = "w";
  expect_same(options);
}

TEST_F(PrepareParts, MayHaveNoRows) {
  DataOptions options = options_for(table_of(7, false));
  options.holdout = 0.3;
  expect_same(options);
}

// Above 256 features, most of them 0: a sparse matrix, whose numbers count from their mean.
TEST_F(PrepareParts, LearnOfManyLevelsWhatOneLearns) {
  Random random(8);
  std::string text = "n,c,y\n";
  for (int row = 0; row < 900; ++row) {
    text += fmt::format("{},level {},{}\n", random.normal(), random.below(300), random.normal());
  }
  DataOptions options = options_for(text);
  options.encoding.max_levels = 1000;
  expect_same(options);
}

}  // namespace
}  // namespace lipschitzlr::run
