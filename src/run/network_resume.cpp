#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/nn/process.hpp"
#include "lipschitzlr/nn/training_loss.hpp"
#include "run/network_session.hpp"
#include "run/option_json.hpp"

namespace lipschitzlr::run {

using nlohmann::ordered_json;

TrainOptions train_options_from(const ordered_json& recorded, const std::string& path) {
  TrainOptions options;
  read_json(options_of(options), recorded, path);
  if (options.limit == 0) options.limit.reset();  // of older records, for all images
  // Likewise, under both protocols:
  if (!recorded.contains("loss")) options.loss = nn::TrainingLoss::cross_entropy;
  if (!recorded.contains("dense_start")) options.dense_start = nn::DenseStart::he_normal;
  return options;
}

void NetworkSession::take_options_of_folder() {
  const std::string path = request_.resume + "/config.json";
  const std::string text = from_root(request_.communicator, [&] { return read_file(path); });
  const unsigned threads = request_.options.threads;
  try {
    const ordered_json config = parse_ordered_json(text, path);
    if (config.at("kind") != kNetworkTraining) throw Error(Fault::data, "another kind of run");
    request_.options = train_options_from(config.at("options"), path);
    if (config.contains("trials")) trials_ = config["trials"];
    if (!request_.log_steps) request_.log_steps = config.at("log_steps").get<std::int64_t>();
    if (!request_.checkpoint_minutes) request_.checkpoint_minutes = config.at("checkpoint_minutes").get<double>();
  } catch (const std::exception&) {
    throw Error(Fault::data, fmt::format("{}: is not the record of a network training", path));
  }
  if (threads != 0) request_.options.threads = threads;
  if (request_.more_epochs) request_.options.epochs = *request_.more_epochs;
}

void NetworkSession::open_record() {
  ordered_json config = {{"kind", kNetworkTraining},
                         {"command", request_.command},
                         {"options", to_json(options_of(request_.options))},
                         {"log_steps", *request_.log_steps},
                         {"checkpoint_minutes", *request_.checkpoint_minutes},
                         {"processes", result_.processes},
                         {"parameters", result_.parameters},
                         {fmt::format("training_{}", data_->unit()), training_.size()},
                         {"validated_on", result_.validated_on}};
  if (!trials_.is_null()) config["trials"] = trials_;
  record_ = std::make_unique<RecordWriter>(result_.folder, config);
  if (data_->table() != nullptr) save_network_table(*data_->table(), result_.folder);
}

void NetworkSession::expect_same_rows() const {
  const std::string before =
      from_root(request_.communicator, [&] { return load_network_table(request_.resume).fingerprint; });
  if (before == data_->fingerprint()) return;
  throw Error(Fault::data,
              fmt::format("{}: these are not the rows that the run in {} was trained on; bring them back, or "
                          "train anew",
                          request_.options.data, request_.resume));
}

void NetworkSession::resume() {
  if (data_->table() != nullptr) expect_same_rows();
  from_root(request_.communicator, [&] {
    if (std::filesystem::exists(checkpoint_path())) return std::string();
    throw Error(Fault::data,
                fmt::format("{}: there is no checkpoint yet; start again, in another folder", checkpoint_path()));
  });
  nn::Trainer::Notes notes = trainer_->load(checkpoint_path());
  std::int64_t lines = 0;
  try {
    lines = recall_run(notes["run"]);
  } catch (const ordered_json::exception&) {
    throw Error(Fault::data, fmt::format("{}: its notes are not those of a run", checkpoint_path()));
  }
  const int threads = nn::process_facts().threads;
  if (notes["threads"] != std::to_string(threads)) {
    result_.remarks.push_back(
        fmt::format("the checkpoint was made with --threads {}, this run has {}: libtorch's last bits will differ",
                    notes["threads"], threads));
  }
  if (notes["processes"] != std::to_string(result_.processes)) {
    result_.remarks.push_back(
        fmt::format("the checkpoint was made by {} processes, now there are {}: the last bits will differ, and with "
                    "batch norm or dropout a little more",
                    notes["processes"], result_.processes));
  }
  if (!is_root()) return;
  const bool done = trainer_->epochs_done() >= *request_.options.epochs;
  // The summary of a finished run stays: it knows how long the training took.
  if (!done || !std::filesystem::exists(result_.folder + "/summary.json")) {
    record_ = std::make_unique<RecordWriter>(RecordWriter::reopen(result_.folder, lines));
  }
  if (!done && request_.more_epochs) note_epochs();
  recall_epochs();
  progress_->set_epochs(*request_.options.epochs);
  progress_->say(
      done ? fmt::format("all {} epochs are done, nothing is left to do; continue with more --epochs",
                         trainer_->epochs_done())
           : fmt::format("resumed at epoch {}, step {}", trainer_->epochs_done() + 1, trainer_->steps_done()));
}

// The command in the record is to make the whole of it, not its first part.
void NetworkSession::note_epochs() {
  const std::string path = result_.folder + "/config.json", epochs = std::to_string(*request_.options.epochs);
  ordered_json config = parse_ordered_json(read_file(path), path);
  config["options"]["epochs"] = *request_.options.epochs;
  std::vector<std::string> command = config.at("command");
  const auto is_epochs = [](const std::string& word) { return word == "--epochs" || word.starts_with("--epochs="); };
  const auto found = std::find_if(command.begin(), command.end(), is_epochs);
  if (found == command.end()) {
    command.insert(command.end(), {"--epochs", epochs});
  } else if (*found == "--epochs" && found + 1 != command.end()) {
    *(found + 1) = epochs;
  } else {
    *found = "--epochs=" + epochs;
  }
  config["command"] = command;
  write_file_atomically(path, config.dump(2) + "\n");
}

std::int64_t NetworkSession::recall_run(const std::string& note) {
  const ordered_json own = parse_ordered_json(note, checkpoint_path());
  TrainOptions saved = train_options_from(own.at("options"), checkpoint_path());
  // More epochs may have been asked for since config.json was written.
  request_.options.epochs = saved.epochs = request_.more_epochs.value_or(*saved.epochs);
  saved.threads = request_.options.threads;
  for (const Difference& other : differences(options_of(saved), options_of(request_.options))) {
    throw Error(Fault::data,
                fmt::format("{}: belongs to a training with other options than {}/config.json: {} is {}, not {}",
                            checkpoint_path(), result_.folder, other.name, to_text(other.one), to_text(other.other)));
  }
  result_.options = request_.options;
  return own.at("lines").get<std::int64_t>();
}

// What the epochs before the checkpoint came to is in the record.
void NetworkSession::recall_epochs() {
  const Record record = read_record(result_.folder);
  if (record.state == RecordState::damaged) {
    throw Error(Fault::data, fmt::format("{}: {}", result_.folder, record.faults.front()));
  }
  for (std::size_t i = 0; i < record.length(); ++i) {
    // JSON has no infinity.
    const auto number = [&](const char* name) {
      const std::vector<double>& column = record.column(name);
      return column.empty() || std::isnan(column[i]) ? std::numeric_limits<double>::infinity() : column[i];
    };
    const auto epoch = static_cast<std::int64_t>(record.column("epoch")[i]);
    result_.last.loss = number("loss");
    const bool numbers = result_.family == linear::Family::linear;
    result_.last.accuracy = number(numbers ? "r2" : "accuracy");
    judge(epoch,
          {number("val_loss"), number(numbers ? "val_r2" : "val_accuracy"), static_cast<Index>(validation_.size())});
    warning(epoch, number("K_z"), number("max_w"));
  }
}

void NetworkSession::checkpoint() {
  if (!is_root()) return;
  weight_norm_ = trainer_->weight_norm();
  last_checkpoint_ = Clock::now();
  if (!std::isfinite(weight_norm_)) return;  // the last good one stays
  record_->flush();
  const ordered_json own = {{"options", to_json(options_of(request_.options))}, {"lines", record_->lines()}};
  trainer_->save(checkpoint_path(), {{"run", own.dump()}});
}

}  // namespace lipschitzlr::run
