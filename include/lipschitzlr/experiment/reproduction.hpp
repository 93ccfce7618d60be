#pragma once
// Runs rows of any table within one time budget and keeps what was measured in a folder of records, so that a later
// call continues. Rows on linear models come first and have half of the budget, each its share of what is left;
// networks share the rest in rounds (experiment/network_runner.hpp). A row that the records have already is not
// measured again.

#include <chrono>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_runner.hpp"

namespace lipschitzlr::experiment {

struct Hooks {
  Launch launch;      // the libtorch part
  Reporter say;       // a sentence for the user
  Reporter progress;  // what a linear model is at, to redraw a line; may be empty
  Interrupt interrupt;
};

class Reproduction {
 public:
  // Reads the records. Throws Error (data) as plan() does.
  Reproduction(std::vector<Recipe> recipes, const Limits& limits, Hooks hooks);

  bool has_networks() const { return !tasks_.empty(); }

  // Measures how fast networks train here and says how long the rows would take; runs and writes nothing.
  std::string estimate(bool json);

  // Throws Error (data) before any work when the folder of records can't be written. Returns the results.
  std::string run(bool json);

 private:
  double seconds_left() const;
  void make_records_folder() const;
  std::vector<run::NetworkSpeed> measure_speeds(bool keep);
  void run_linear();
  Row linear_row(const Recipe& recipe, const Limits& limits);
  void run_networks();
  std::string results(bool json) const;

  std::vector<Recipe> recipes_;
  Limits limits_;
  Hooks hooks_;
  Collection known_;
  std::vector<NetworkTask> tasks_;
  std::vector<Row> linear_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lipschitzlr::experiment
