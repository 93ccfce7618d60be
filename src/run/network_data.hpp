#pragma once
// What a network is trained, validated and tested on: images, or the rows of a table, read and made features as `fit`
// does it. The numbers that a network learns of a table are standardised, (y - mean) / deviation over the rows that it
// is trained on, because a start at random gives outputs of about 1; what it predicts goes back to the file's units.

#include <memory>
#include <string>
#include <vector>

#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/data/batch/table_examples.hpp"
#include "lipschitzlr/data/table/split.hpp"
#include "lipschitzlr/linear/evaluation.hpp"
#include "lipschitzlr/run/network_table.hpp"
#include "lipschitzlr/run/trainer_setup.hpp"

namespace lipschitzlr::run {

class NetworkData {
 public:
  // What options.data names. Throws Error (data), and (usage) as `fit` does.
  static std::unique_ptr<NetworkData> load(const TrainOptions& options);
  virtual ~NetworkData() = default;

  virtual DataShape shape() const = 0;
  virtual Index train_count() const = 0;
  virtual Index test_count() const = 0;  // 0: there are none
  virtual std::string fingerprint() const = 0;
  // Training examples, and some set aside, a share of them.
  virtual data::Split split(double share, std::uint64_t seed) const = 0;
  // Once it is known on which examples is trained: train() and test() are then there.
  virtual void make_examples(const nn::TrainerOptions& options, const std::vector<Index>& training) = 0;
  // Of all test examples, from the outputs of the network.
  virtual linear::Evaluation evaluate_test(const DenseMatrix<double>& outputs) const = 0;
  virtual const NetworkTable* table() const { return nullptr; }  // null: images
  virtual std::vector<std::string> remarks() const { return {}; }

  const data::Examples& train() const { return *train_; }
  const data::Examples& test() const { return *test_; }
  const char* unit() const { return table() == nullptr ? "images" : "rows"; }

 protected:
  std::unique_ptr<data::Examples> train_, test_;
};

// Rows with the columns of the table, encoded; what they have for a target is in the network's units.
data::TableExamples examples_of(const NetworkTable& table, const data::Table& rows);

}  // namespace lipschitzlr::run
