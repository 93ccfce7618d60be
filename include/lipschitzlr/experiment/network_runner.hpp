#pragma once
// Runs rows on networks by starting `train`, once or several times per training, each in a record of its own that a
// later call continues. A time budget is shared in rounds: all trainings are brought to 1 epoch, then to 2, 4, 8, ...,
// the ones with the shortest epochs first, without those whose row another record has that far already; an epoch that
// does not fit into the time left is not begun. How long epochs take is computed from a short measured probe per
// network. libtorch is not needed here: the caller passes in how to start it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/collection.hpp"

namespace lipschitzlr::experiment {

// One training of one row: a protocol, a seed, a record.
struct NetworkTask {
  Recipe recipe;
  std::string protocol;
  std::uint64_t seed = 1;
  std::string folder;
  std::int64_t wanted = 0;          // epochs
  std::int64_t done = 0;            // epochs in the record
  std::int64_t known = 0;           // epochs of the row in any record: a budget goes to what no record has first
  std::string failure;              // of the training, or what is wrong with its record; it is not run any more
  std::vector<std::string> absent;  // data sets that are not available; it is not run
  double epoch_seconds = 0;         // estimated; 0: not known

  bool unfinished() const { return failure.empty() && done < wanted; }
  bool open() const { return unfinished() && absent.empty(); }
  double hours_left() const { return unfinished() ? epoch_seconds * static_cast<double>(wanted - done) / 3600 : 0; }
};

// Starts the libtorch part with these words and waits for its end; as soon as stop says yes, it is interrupted and
// saves its work. What it prints is added to output, unless that is nullptr. Returns its exit code: 130 when it was
// stopped.
using Launch =
    std::function<int(const std::vector<std::string>& words, const std::function<bool()>& stop, std::string* output)>;

// Every row under every protocol it has among those of the limits, from every seed, as far as the records got, whatever
// their names. Throws Error (data) when a folder holds a training with other options.
std::vector<NetworkTask> plan(const std::vector<Recipe>& rows, const Limits& limits,
                              const std::vector<run::Record>& records);

// Estimated: training images by step, validation images by forward pass, and when K_z comes from a pass of its own, the
// training images once more. Images in place of the row's are only known to be as many as the limit. 0: there is no
// speed for this network.
double epoch_seconds(const Recipe& recipe, const std::string& protocol, const std::vector<run::NetworkSpeed>& speeds,
                     const Limits& limits);

// What a probe is to measure: each network on each data set once, of what is not done yet.
std::vector<run::NetworkSpeed> wanted_speeds(const std::vector<NetworkTask>& tasks);

// Runs what is open. Returns whether it came to its end: false when interrupted.
bool run_tasks(std::vector<NetworkTask>& tasks, const Limits& limits, const Launch& launch, const Reporter& report,
               const Interrupt& interrupt);

}  // namespace lipschitzlr::experiment
