#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/nn/process.hpp"
#include "run/network_running.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;

}  // namespace

void Running::take_choice_of_folder() {
  const std::string path = run_.folder + "/config.json";
  const std::string text = from_root(run_.communicator, [&] { return read_file(path); });
  const unsigned threads = run_.choice.threads;
  try {
    const ordered_json config = ordered_json::parse(text);
    if (config.at("kind") != kNetworkTraining) throw Error(Fault::data, "another kind of run");
    run_.choice = network_choice_from(config.at("options").dump());
    if (config.contains("trials")) result_.trials = config["trials"].dump();
    if (!run_.log_steps) run_.log_steps = config.at("log_steps").get<std::int64_t>();
    if (!run_.checkpoint_minutes) run_.checkpoint_minutes = config.at("checkpoint_minutes").get<double>();
  } catch (const std::exception&) {
    throw Error(Fault::data, fmt::format("{}: is not the record of a network training", path));
  }
  if (threads != 0) run_.choice.threads = threads;
  if (run_.more_epochs) run_.choice.epochs = *run_.more_epochs;
}

void Running::open_record() {
  ordered_json config = {{"kind", kNetworkTraining},
                         {"command", run_.command},
                         {"options", ordered_json::parse(to_json(run_.choice))},
                         {"log_steps", *run_.log_steps},
                         {"checkpoint_minutes", *run_.checkpoint_minutes},
                         {"processes", result_.processes},
                         {"parameters", result_.parameters},
                         {"training_images", training_.size()},
                         {"validated_on", result_.validated_on}};
  if (!result_.trials.empty()) config["trials"] = ordered_json::parse(result_.trials);
  record_ = std::make_unique<RecordWriter>(result_.folder, config);
}

void Running::resume() {
  from_root(run_.communicator, [&] {
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
  const bool done = trainer_->epochs_done() >= run_.choice.epochs;
  // The summary of a finished run stays: it knows how long the training took.
  if (!done || !std::filesystem::exists(result_.folder + "/summary.json")) {
    record_ = std::make_unique<RecordWriter>(RecordWriter::reopen(result_.folder, lines));
  }
  if (!done && run_.more_epochs) note_epochs();
  recall_epochs();
  progress_->set_epochs(run_.choice.epochs);
  progress_->say(
      done ? fmt::format("all {} epochs are done, nothing is left to do; go on with more --epochs",
                         trainer_->epochs_done())
           : fmt::format("resumed at epoch {}, step {}", trainer_->epochs_done() + 1, trainer_->steps_done()));
}

// The command in the record is to make the whole of it, not its first part.
void Running::note_epochs() {
  const std::string path = result_.folder + "/config.json", epochs = std::to_string(run_.choice.epochs);
  ordered_json config = ordered_json::parse(read_file(path));
  config["options"]["epochs"] = run_.choice.epochs;
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

std::int64_t Running::recall_run(const std::string& note) {
  const ordered_json own = ordered_json::parse(note);
  NetworkChoice saved = network_choice_from(own.at("options").dump());
  // More epochs may have been asked for since config.json was written.
  run_.choice.epochs = saved.epochs = run_.more_epochs.value_or(saved.epochs);
  saved.threads = run_.choice.threads;
  if (to_json(saved) != to_json(run_.choice)) {
    throw Error(Fault::data, fmt::format("{}: belongs to a training with other options than {}/config.json",
                                         checkpoint_path(), result_.folder));
  }
  result_.choice = run_.choice;
  return own.at("lines").get<std::int64_t>();
}

// What the epochs before the checkpoint came to stands in the record.
void Running::recall_epochs() {
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
    result_.last.accuracy = number("accuracy");
    judge(epoch, {number("val_loss"), number("val_accuracy"), static_cast<Index>(validation_.size())});
    warning(epoch, number("K_z"), number("max_w"));
  }
}

void Running::checkpoint() {
  if (!is_root()) return;
  weight_norm_ = trainer_->weight_norm();
  last_checkpoint_ = Clock::now();
  if (!std::isfinite(weight_norm_)) return;  // the last good one stays
  record_->flush();
  const ordered_json own = {{"options", ordered_json::parse(to_json(run_.choice))}, {"lines", record_->lines()}};
  trainer_->save(checkpoint_path(), {{"run", own.dump()}});
}

}  // namespace lipschitzlr::run
