// A packed table that takes more memory than it may has the bits of one in memory, in everything that is learned of it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/table/packed.hpp"
#include "lipschitzlr/run/fit.hpp"
#include "lipschitzlr/run/rate_report.hpp"
#include "lipschitzlr/run/rows_for_model.hpp"
#include "run/scratch.hpp"

namespace lipschitzlr::run {
namespace {

using linear::Family;
using nlohmann::json;

constexpr std::uint64_t kLittle = 1 << 20;
constexpr int kRows = 9001, kColumns = 41;  // matrices of up to a megabyte have kernels of their own: this has three

// A table of random numbers and a target that depends on some of them; the last column weighs the rows.
std::string random_csv(Family family, int rows) {
  Random random(3);
  std::string text;
  for (int j = 0; j < kColumns; ++j) text += "x" + std::to_string(j) + ",";
  text += "weight,y\n";
  for (int i = 0; i < rows; ++i) {
    double score = 0.3 * random.normal();
    for (int j = 0; j < kColumns; ++j) {
      const double value = std::round(1000 * random.normal() * (j == 0 ? 30 : 1)) / 1000 + (j == 2 ? 7 : 0);
      if (j < 5) score += value / (j == 0 ? 30 : 1);
      text += (j == 4 ? "3" : std::to_string(value)) + ",";
    }
    text += std::to_string(i % 3) + ",";
    if (family == Family::linear) text += std::to_string(score);
    if (family == Family::logistic) text += score > 7 ? "yes" : "no";
    if (family == Family::softmax) text += score > 8 ? "a" : score > 6 ? "b" : "c";
    text += "\n";
  }
  return text;
}

// What differs between two runs of the same training.
void leave_out_circumstances(json& value) {
  for (const char* key : {"seconds", "memory", "threads", "source", "data", "record"}) {
    if (value.is_object()) value.erase(key);
  }
  for (json& part : value) {
    if (part.is_structured()) leave_out_circumstances(part);
  }
}

json outcome_of(const FitResult& result) {
  json outcome = {{"model", json::parse(to_json(result.model))},
                  {"summary", json::parse(result.summary)},
                  {"remarks", result.remarks}};
  outcome["model"]["training"] = json();  // the summary without its curves
  leave_out_circumstances(outcome);
  return outcome;
}

class MemoryTest : public Scratch {
 protected:
  // The packed table of a family; made once.
  std::string packed(Family family) {
    const std::string made = path(to_string(family) + ".lrd");
    if (std::filesystem::exists(made)) return made;
    write_file_atomically(path("t.csv"), random_csv(family, kRows));
    data::pack_table(path("t.csv"), made);
    return made;
  }

  static FitResult fitted(FitRequest request, std::optional<std::uint64_t> memory) {
    request.data.read.memory = memory;
    Prepared prepared = prepare(request.data);
    EXPECT_EQ(std::holds_alternative<StreamedRows<double>>(prepared.train.features), memory.has_value());
    return fit(request, std::move(prepared));
  }

  static void expect_same(FitRequest request, const std::string& what) {
    request.training.epochs = std::min<std::int64_t>(request.training.epochs, 20);
    request.threads = 2;
    const json expected = outcome_of(fitted(request, {}));
    for (const unsigned threads : {1u, 2u, 7u}) {
      request.threads = threads;
      EXPECT_EQ(outcome_of(fitted(request, kLittle)), expected) << what << " on " << threads << " threads";
    }
  }

  FitRequest request(Family family) {
    FitRequest request;
    request.data.source = packed(family);
    request.choose_l2 = false;
    return request;
  }

  static std::string message_of(const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::string path(const std::string& name) const { return folder + "/" + name; }
};

TEST_F(MemoryTest, EveryFamilyAndSolverEndsAtTheBitsOfATableInMemory) {
  for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
    FitRequest plain = request(family);
    expect_same(plain, to_string(family) + " without a penalty");
    plain.data.holdout = 0.2;
    plain.data.l2 = 0.01;
    for (const Solver solver : {Solver::automatic, Solver::gd, Solver::accelerated}) {
      plain.solver = solver;
      expect_same(plain, to_string(family) + " by " + to_string(solver));
    }
  }
}

TEST_F(MemoryTest, SoDoesAPenaltyChosenByCrossValidation) {
  for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
    FitRequest chosen = request(family);
    chosen.choose_l2 = true;
    chosen.folds = 3;
    chosen.path = 4;
    expect_same(chosen, to_string(family));
  }
  FitRequest sparse = request(Family::linear);
  sparse.choose_l1 = true;
  sparse.folds = 2;
  sparse.path = 4;
  expect_same(sparse, "L1");
}

TEST_F(MemoryTest, SoDoWeightsOfRowsScalingsSinglePrecisionAndRowsHeldOut) {
  FitRequest weighed = request(Family::logistic);
  weighed.data.weight = "weight";
  weighed.data.l2 = 0.1;
  weighed.data.scaling = data::Scaling::min_max;
  weighed.single_precision = true;
  expect_same(weighed, "weights");
  FitRequest patient = request(Family::linear);
  patient.data.class_weight = "";
  patient.solver = Solver::gd;
  patient.training.patience = 3;
  expect_same(patient, "patience");
  FitRequest sparse = request(Family::softmax);
  sparse.data.l1 = 0.01;
  expect_same(sparse, "coordinate descent");
}

TEST_F(MemoryTest, TheRatesAreTheSame) {
  RateOptions options;
  options.data.source = packed(Family::linear);
  const RateReport expected = report_rates(prepare(options.data), options);
  options.data.read.memory = kLittle;
  const RateReport streamed = report_rates(prepare(options.data), options);
  ASSERT_EQ(streamed.constants.size(), expected.constants.size());
  for (std::size_t i = 0; i < expected.constants.size(); ++i) {
    EXPECT_EQ(streamed.constants[i].constant.value, expected.constants[i].constant.value);
    EXPECT_EQ(streamed.constants[i].trial_loss, expected.constants[i].trial_loss);
  }
  EXPECT_EQ(streamed.loss_floor, expected.loss_floor);
}

TEST_F(MemoryTest, PredictionsAreTheSameWhateverTheOrderOfTheColumns) {
  FitRequest request = this->request(Family::softmax);
  request.data.l2 = 0.1;
  const linear::Model model = fitted(request, {}).model;
  ThreadPool pool(2);
  const auto scored = [&](std::optional<std::uint64_t> memory) {
    const data::Table rows = load_rows(model, request.data.source, {.memory = memory}, Target::required);
    EXPECT_EQ(std::holds_alternative<StreamedRows<double>>(rows.features), memory.has_value());
    return linear::scores(model, rows.features, pool);
  };
  const DenseMatrix<double> expected = scored({});
  EXPECT_EQ(scored(kLittle), expected);
  linear::Model turned = model;
  std::swap(turned.encoder.columns[0], turned.encoder.columns[7]);
  std::swap(turned.feature_names[0], turned.feature_names[7]);
  std::swap(turned.scaler.offsets[0], turned.scaler.offsets[7]);
  std::swap(turned.scaler.factors[0], turned.scaler.factors[7]);
  turned.weights.row(0).swap(turned.weights.row(7));
  const data::Table rows = load_rows(turned, request.data.source, {.memory = kLittle}, Target::required);
  EXPECT_TRUE(linear::scores(turned, rows.features, pool).isApprox(expected, 1e-12));
}

TEST_F(MemoryTest, WhatNeedsAllRowsAtOnceSaysSo) {
  FitRequest batches = request(Family::logistic);
  batches.solver = Solver::sgd;
  FitRequest median = request(Family::linear);
  median.data.encoding.missing = data::Missing::median;
  for (const FitRequest& refused : {batches, median}) {
    const std::string message = message_of([&] { fitted(refused, kLittle); });
    EXPECT_NE(message.find("larger --memory"), std::string::npos) << message;
  }
}

// A block whose bytes have changed ends the training, whichever pass reads it first.
TEST_F(MemoryTest, NoModelIsMadeOfABlockThatHasChanged) {
  const FitRequest request = this->request(Family::linear);
  const std::string table = request.data.source;
  const auto size = std::filesystem::file_size(table);
  for (const double share : {0.0001, 0.3, 0.5, 0.9, 0.99, 0.9999}) {
    const auto place = static_cast<std::streamoff>(share * static_cast<double>(size));
    std::fstream file(table, std::ios::in | std::ios::out | std::ios::binary);
    const auto change = [&] {
      file.seekg(place);
      const char byte = static_cast<char>(file.get() ^ 1);
      file.seekp(place);
      file.put(byte).flush();
    };
    change();
    EXPECT_NE(message_of([&] { fitted(request, kLittle); }).find("has changed"), std::string::npos) << share;
    change();
  }
  EXPECT_EQ(message_of([&] { fitted(request, kLittle); }), "");
}

TEST_F(MemoryTest, NorOfAFileThatIsWrittenToOrCutMeanwhile) {
  FitRequest request = this->request(Family::linear);
  request.data.read.memory = kLittle;
  const std::string bytes = read_file(request.data.source);
  for (const std::size_t left : {bytes.size() / 2, bytes.size()}) {
    Prepared prepared = prepare(request.data);
    std::ofstream(request.data.source, std::ios::binary) << bytes.substr(0, left);
    const std::string message = message_of([&] { fit(request, std::move(prepared)); });
    EXPECT_NE(message.find("while it is read"), std::string::npos) << message;
    write_file_atomically(request.data.source, bytes);
  }
}

TEST_F(MemoryTest, ACsvThatTakesMoreIsPackedInTheCacheOnce) {
  ::setenv("LIPSCHITZLR_DATA", path("cache").c_str(), 1);
  const std::string table = path("big.csv");
  write_file_atomically(table, random_csv(Family::linear, kRows));
  FitRequest request;
  request.data.source = table;
  request.data.read.ignore = {"x3"};
  request.choose_l2 = false;
  const json expected = outcome_of(fitted(request, {}));
  const auto remark_of = [&](std::uint64_t memory) {
    request.data.read.memory = memory;
    const Prepared prepared = prepare(request.data);
    return prepared.train.remarks.empty() ? "" : prepared.train.remarks.back();
  };
  EXPECT_NE(remark_of(kLittle).find("packed now"), std::string::npos);
  EXPECT_NE(remark_of(kLittle).find("packed before"), std::string::npos);
  EXPECT_EQ(remark_of(100 * kLittle), "");
  EXPECT_EQ(outcome_of(fitted(request, kLittle)), expected);
  request.data.read.ignore = {"x5"};  // another table
  EXPECT_NE(remark_of(kLittle).find("packed now"), std::string::npos);
  write_file_atomically(table, random_csv(Family::linear, kRows + 1));
  EXPECT_NE(remark_of(kLittle).find("packed now"), std::string::npos);
  EXPECT_EQ(prepare(request.data).train.rows(), kRows + 1);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(path("cache/packed"))) ++files;
  EXPECT_EQ(files, 2u);  // the older table without x5 is gone
  write_file_atomically(table, random_csv(Family::linear, kRows) + "text" + std::string(kColumns + 1, ',') + "1\n");
  const std::string message = message_of([&] { prepare(request.data); });
  EXPECT_NE(message.find("can't be packed"), std::string::npos) << message;
  request.data.read.memory.reset();
  ::unsetenv("LIPSCHITZLR_DATA");
}

}  // namespace
}  // namespace lipschitzlr::run
