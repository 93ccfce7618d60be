#include "run/network_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/base/sha256.hpp"
#include "lipschitzlr/data/batch/batches.hpp"
#include "lipschitzlr/data/image/image_sources.hpp"
#include "lipschitzlr/run/network_evaluation.hpp"
#include "lipschitzlr/run/prepare.hpp"
#include "run/fit_summary.hpp"

namespace lipschitzlr::run {
namespace {

class Images : public NetworkData {
 public:
  explicit Images(const std::string& source)
      : train_images_(data::load_images(source, data::Part::train)),
        test_images_(data::load_images(source, data::Part::test)) {}

  DataShape shape() const override { return train_images_; }
  Index train_count() const override { return train_images_.count(); }
  Index test_count() const override { return test_images_.count(); }

  std::string fingerprint() const override {
    Sha256 sum;
    for (const data::ImageSet* set : {&train_images_, &test_images_}) {
      sum.add(fmt::format("{} {} {} {}\n", set->count(), set->height, set->width, fmt::join(set->classes, "\n")));
      sum.add({reinterpret_cast<const char*>(set->pixels.data()), set->pixels.size()});
      sum.add({reinterpret_cast<const char*>(set->labels.data()), set->labels.size() * sizeof(set->labels[0])});
    }
    return sum.finish();
  }

  data::Split split(double share, std::uint64_t seed) const override {
    std::vector<Index> mixed = data::all_images(train_images_);
    Random random(seed);
    random.shuffle(std::span(mixed));
    const auto aside = static_cast<std::ptrdiff_t>(std::llround(share * static_cast<double>(mixed.size())));
    data::Split split{{mixed.begin() + aside, mixed.end()}, {mixed.begin(), mixed.begin() + aside}};
    std::sort(split.train.begin(), split.train.end());
    return split;
  }

  void make_examples(const nn::TrainerOptions& options, const std::vector<Index>&) override {
    pool_ = std::make_unique<ThreadPool>(options.threads);
    const std::vector<float> mean = options.subtract_mean ? data::mean_image(train_images_) : std::vector<float>();
    train_ = std::make_unique<data::Batches>(train_images_, mean, options.augmentation, options.seed, *pool_);
    test_ = std::make_unique<data::Batches>(test_images_, mean, data::Augmentation(), options.seed, *pool_);
  }

  linear::Evaluation evaluate_test(const DenseMatrix<double>& outputs) const override {
    return evaluate_scores(outputs, test_images_, train_images_.classes);
  }

 private:
  data::ImageSet train_images_, test_images_;
  std::unique_ptr<ThreadPool> pool_;
};

class Rows : public NetworkData {
 public:
  explicit Rows(const TrainOptions& options) : prepared_(prepare(reading(options))) {
    static_cast<linear::TableModel&>(table_) =
        linear::table_model(prepared_.setup.family, prepared_.train, prepared_.scaler, prepared_.encoder);
    table_.fingerprint = sha256(fmt::format("{} {} {}", run::fingerprint(prepared_), run::fingerprint(prepared_.test),
                                            fmt::join(prepared_.train.labels, "\n")));
  }

  DataShape shape() const override { return {table_.family, train_count()}; }
  Index train_count() const override { return prepared_.train.rows(); }
  Index test_count() const override { return prepared_.test.rows(); }
  std::string fingerprint() const override { return table_.fingerprint; }
  const NetworkTable* table() const override { return &table_; }
  std::vector<std::string> remarks() const override { return prepared_.train.remarks; }

  data::Split split(double share, std::uint64_t seed) const override {
    Random random(seed);
    return data::split_rows(prepared_.train, share, random);
  }

  void make_examples(const nn::TrainerOptions&, const std::vector<Index>& training) override {
    if (table_.family == linear::Family::linear) standardise(prepared_.train.target(training));
    train_ = std::make_unique<data::TableExamples>(examples_of(table_, prepared_.train));
    if (test_count() > 0) test_ = std::make_unique<data::TableExamples>(examples_of(table_, prepared_.test));
  }

  linear::Evaluation evaluate_test(const DenseMatrix<double>& outputs) const override {
    return linear::evaluate(table_.family, in_units(table_, outputs), prepared_.test.target, table_.labels);
  }

 private:
  static DataOptions reading(const TrainOptions& options) {
    DataOptions data = options.table;
    data.source = options.data;
    data.seed = options.seed;
    data.read.threads = options.threads;
    data.intercept = false;                      // the layers have theirs
    data.weight_bound = linear::kNoWeightBound;  // K is of linear models
    return data;
  }

  void standardise(const Vector<double>& numbers) {
    // In units of a power of two, which rounds nothing, no square overflows.
    const int unit = std::ilogb(std::max(numbers.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min()));
    const Vector<double> scaled = numbers.unaryExpr([&](double number) { return std::ldexp(number, -unit); });
    const double deviation = std::sqrt((scaled.array() - scaled.mean()).square().mean());
    table_.target_mean = std::ldexp(scaled.mean(), unit);
    table_.target_deviation = deviation > 0 ? std::ldexp(deviation, unit) : 1;
  }

  Prepared prepared_;
  NetworkTable table_;
};

}  // namespace

data::TableExamples examples_of(const NetworkTable& table, const data::Table& rows) {
  return {rows, table.scaler, table.classes(), table.target_mean, 1 / table.target_deviation};
}

std::unique_ptr<NetworkData> NetworkData::load(const TrainOptions& options) {
  if (!names_table(options.data)) return std::make_unique<Images>(options.data);
  return std::make_unique<Rows>(options);
}

}  // namespace lipschitzlr::run
