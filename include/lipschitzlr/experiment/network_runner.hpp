#pragma once
// Runs rows on networks by starting `train`, once or several times per training, each in a record of its own that a
// later call goes on with. A time budget is shared in rounds: all trainings are brought to 1 epoch, then to 2, 4, 8,
// ..., the ones with the shortest epochs first, without those whose row another record has that far already; an epoch
// that does not fit into the time left is not begun. How long epochs take is computed from a short measured probe per
// network. libtorch is not needed here: who calls hands in how to start it.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_verdict.hpp"

namespace lipschitzlr::experiment {

struct NetworkLimits {
  int seeds = 1;            // every training from the seeds 1 to this
  std::int64_t epochs = 0;  // in place of the recipe's; 0: the recipe's
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> protocols = {"coded"};
  std::string records = "reproduction";  // folder of the records
  std::string data;                      // images to train on in place of the row's, for a try; empty: the row's
  Index images = 0;                      // train on so many only; 0: all
  unsigned threads = 0;

  bool is_try() const { return !data.empty() || images > 0; }  // has records of its own, and no verdict
};

// What a probe measured, in seconds per image.
struct NetworkSpeed {
  std::string data, network;
  Index batch = 0;
  double step = 0;     // a training step
  double forward = 0;  // evaluation
};

// One training of one row: a protocol, a seed, a record.
struct NetworkTask {
  NetworkRecipe recipe;
  std::string protocol;
  std::uint64_t seed = 1;
  std::string folder;
  std::int64_t wanted = 0;          // epochs
  std::int64_t done = 0;            // epochs in the record
  std::int64_t known = 0;           // epochs of the row in any record: a budget goes to what no record has first
  std::string failure;              // of the training, or what is wrong with its record; nothing is run any more
  std::vector<std::string> absent;  // data sets that are not at hand; nothing is run
  double epoch_seconds = 0;         // estimated; 0: not known

  bool open() const { return failure.empty() && absent.empty() && done < wanted; }
  double hours_left() const {
    return failure.empty() && done < wanted ? epoch_seconds * static_cast<double>(wanted - done) / 3600 : 0;
  }
};

// Starts the libtorch part with these words and waits for it, at most so many seconds; then it is asked to stop at
// once. Returns its exit code: 130 when it was stopped.
using Launch = std::function<int(const std::vector<std::string>& words, double seconds)>;
using Report = std::function<void(const std::string& sentence)>;

// The set of images and its test images, as far as they are not at hand.
std::vector<std::string> absent_sets(const std::string& data);

// Every row under every protocol it has among those of the limits, from every seed, as far as the records got, whatever
// their names. Throws Error (data) when a folder holds a training with other options.
std::vector<NetworkTask> plan(const std::vector<NetworkRecipe>& rows, const NetworkLimits& limits);

// Fills in epoch_seconds: training images by step, validation images by forward pass, and when K_z comes from a pass of
// its own, the training images once more. Images in place of the row's are only known to be as many as the limit.
void estimate(std::vector<NetworkTask>& tasks, const std::vector<NetworkSpeed>& speeds, const NetworkLimits& limits);

// What a probe is to measure: each network on each data set once, of what is not done yet.
std::vector<NetworkSpeed> wanted_speeds(const std::vector<NetworkTask>& tasks);
std::vector<NetworkSpeed> speeds_from(const std::string& json);  // throws Error (data)

// What a probe measured, kept among the records so that a report can say how long the rest would take.
inline constexpr const char* kSpeedsFile = "speeds.json";

// Runs what is open. Returns whether it came to its end: false when stopped says so.
bool run_tasks(std::vector<NetworkTask>& tasks, const NetworkLimits& limits, const Launch& launch, const Report& report,
               const std::function<bool()>& stopped);

// The words that start a task, or go on with it, up to a number of epochs.
std::vector<std::string> command_of(const NetworkTask& task, std::int64_t epochs, const NetworkLimits& limits);

}  // namespace lipschitzlr::experiment
