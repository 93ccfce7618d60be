#pragma once
// One network training while it runs (network_training.cpp), the rate it finds by trials (rate_trials.cpp), and what of
// it goes to disk and comes back when it is resumed (network_resume.cpp).

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/rate/guard.hpp"
#include "lipschitzlr/run/network_training.hpp"
#include "lipschitzlr/run/record.hpp"
#include "run/check_report.hpp"
#include "run/network_data.hpp"
#include "run/network_progress.hpp"
#include "run/record_writer.hpp"

namespace lipschitzlr::run {

// The options as a record has them, of any version. Throws Error (data).
TrainOptions train_options_from(const nlohmann::ordered_json& recorded, const std::string& path);

class NetworkSession {
 public:
  explicit NetworkSession(const TrainRequest& request);
  TrainResult run();

 private:
  bool is_root() const { return lipschitzlr::is_root(request_.communicator); }
  void take_options_of_folder();
  void expect_same_start() const;
  void expect_same_data_and_options() const;
  TrainOptions options_with_threads() const;  // where none were asked for, the processes of a machine share its cores
  void split_data();
  void make_examples();
  void find_rate();
  void open_record();
  void resume();
  void expect_same_rows() const;
  void note_epochs();
  std::int64_t recall_run(const std::string& note);  // returns how many lines of the record the checkpoint knows
  void recall_epochs();
  const data::Examples& validated() const { return validates_on_test_ ? data_->test() : data_->train(); }
  void expect_finite(const nn::EpochReport& epoch, const nn::Evaluation& validation) const;
  // By accuracy, and of equals by loss; on rows, of which few are set aside, by loss alone.
  bool is_better(const nn::Evaluation& one, const nn::Evaluation& other) const;
  bool judge(std::int64_t epoch, const nn::Evaluation& validation);  // whether it is the best so far
  void after_step(const nn::StepReport& step);
  void after_epoch();
  nn::Evaluation validate();  // of the better weights, where there are two
  void write(const nn::EpochReport& epoch, const nn::Evaluation& validation, double validate_seconds);
  void close_automatic();
  std::string warning(std::int64_t epoch, double penultimate_norm, double weight_norm);
  void checkpoint();
  std::string checkpoint_path() const { return result_.folder + "/checkpoint.safetensors"; }
  void finish();
  nlohmann::ordered_json summary() const;
  // Accuracy and loss; of numbers R^2 and the error in their units too.
  nlohmann::ordered_json figures_of(const nn::Evaluation& of) const;

  TrainRequest request_;
  std::unique_ptr<NetworkData> data_;
  std::vector<Index> training_, validation_;  // validation_ counts in validated()
  bool validates_on_test_ = false;
  TrainResult result_;
  nlohmann::ordered_json trials_;  // of rates; null when there were none
  std::unique_ptr<NetworkProgress> progress_;
  std::unique_ptr<nn::Trainer> trainer_;
  std::unique_ptr<RecordWriter> record_;
  std::unique_ptr<rate::StartGuard> guard_;
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now(), last_checkpoint_ = Clock::now();
  double train_seconds_ = 0;
  Index images_seen_ = 0;
  double weight_norm_ = 0;
  double constant_loss_ = 0;          // of the best constant prediction, on the validation examples
  nn::CheckCounts checked_;           // since this process began
  nlohmann::ordered_json automatic_;  // what the optimizer auto leaves in the summary; null without it
};

}  // namespace lipschitzlr::run
