#pragma once
// The record of one training as run/record.hpp leaves it (config.json, metrics.jsonl, summary.json), read back with
// forgiveness: what is missing, cut short or damaged is said in a sentence, and what can be read is kept. Nothing here
// throws because of what a file contains.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lipschitzlr::report {

enum class RecordKind { network, linear, unknown };
enum class RecordState { complete, cut_short, damaged, missing };
std::string to_string(RecordState state);  // "complete", "cut short", "damaged", "missing"

// The measurements by column, one entry per epoch; what a line lacks is not a number.
using Curves = std::map<std::string, std::vector<double>>;

struct RunRecord {
  std::string folder;  // as it was named
  RecordKind kind = RecordKind::unknown;
  RecordState state = RecordState::complete;
  std::vector<std::string> faults;  // sentences; empty for a complete record
  std::string command;              // what to type to make it again; empty when the record does not say
  std::string data, model;          // "cifar10", "resnet20-v1"; of a fit the family, "logistic"
  std::string optimizer;            // "adamo"; of a fit the solver
  std::string policy;               // networks: adaptive, fixed, baseline
  std::string protocol;             // networks: published, coded; of a fit the constant, or the rate as a number
  double rate = 0;                  // networks: of the policy baseline; 0: the optimizer's own
  double decay = 0;                 // networks: of the rate per step
  std::uint64_t seed = 0;
  std::int64_t epochs_asked = 0;  // 0: not said
  std::int64_t epochs_done = 0;
  double last_loss = 0;  // on what was trained on; not a number when there is none
  std::string stopped;   // why the run ended, from its summary
  double seconds = 0;    // of the whole run; 0: not said
  double threads = 0;    // 0: not said
  Curves curves;

  std::string name() const;  // of the folder, without those above it
  std::size_t length() const;
  // Empty when the column is not there.
  const std::vector<double>& curve(const std::string& column) const;
};

RunRecord read_run_record(const std::string& folder);

// Words as a shell takes them: quoted where they must be.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace lipschitzlr::report
