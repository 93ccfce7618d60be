#pragma once
// The record of one run on disk: a folder with config.json (what was asked), metrics.jsonl (one line per measurement),
// summary.json (the result; absent while the run is going on or when it was cut short) and failure.txt (why a training
// failed). `fit` and `train` write it (src/run/record_writer.hpp); resume, experiment and report read it back here.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lipschitzlr::run {

inline constexpr const char* kFailureFile = "failure.txt";  // written by whoever started the training

enum class RecordKind { network, linear, unknown };
enum class RecordState { complete, cut_short, damaged, missing };
std::string to_string(RecordState state);  // "complete", "cut short", "damaged", "missing"

// What the penalty of a fit was chosen by: the loss of rows held out, for each lambda that was tried.
struct PenaltyCurve {
  std::vector<double> lambda, loss, standard_error;  // of one length
};

// What a fit says of its coefficients and of the rows held out for testing, to be drawn; empty where it says nothing.
struct FitAnswers {
  struct Curve {
    std::string label;
    std::vector<double> x, y;  // of one length
  };
  struct Effect {
    std::string name;  // with the class where there are several
    double effect = 0;
  };
  std::vector<Effect> effects;
  std::vector<Curve> roc;  // of the second of two classes, or of each of more
  Curve calibration;       // mean probability and how often it came true
  std::vector<std::string> labels;
  std::vector<std::vector<double>> confusion;  // square, as many as labels
  double first_error = 0, error_width = 0;     // of the histogram
  std::vector<double> errors;
};

struct Record {
  std::string folder;  // as it was named
  RecordKind kind = RecordKind::unknown;
  RecordState state = RecordState::complete;
  std::vector<std::string> faults;                     // sentences; empty for a complete record
  std::vector<std::string> command;                    // the words of the command line; empty: the record does not say
  std::map<std::string, std::string> options;          // by their names in config.json, as text; null: ""
  std::map<std::string, std::vector<double>> columns;  // of epochs, by name; a number that a line lacks is NaN
  std::string failure;                                 // why the training failed; empty when it did not
  std::int64_t epochs_done = 0;                        // long fits have fewer lines than epochs
  double last_loss = 0;                                // on what was trained on; NaN when there is none
  double seconds = 0;                                  // of the whole run; 0: not known
  std::string verdict;                                 // of a fit: how near the optimum; empty: not known
  PenaltyCurve penalty;                                // of a fit; empty: none was chosen
  FitAnswers answers;

  std::string name() const;  // of the folder, without those above it
  std::string data() const { return option("data"); }
  std::string model() const { return option(kind == RecordKind::linear ? "model" : "network"); }
  std::string optimizer() const { return option(kind == RecordKind::linear ? "solver" : "optimizer"); }
  std::string option(const std::string& name) const;  // "" when there is none
  double number(const std::string& name) const;       // of an option; 0 when there is none
  double epoch_seconds() const;                       // the mean of its epochs, of a network; 0: not known
  std::size_t length() const { return column("epoch").size(); }
  const std::vector<double>& column(const std::string& name) const;  // empty when there is none
};

// Never throws because of what a file holds: what is missing, cut short or damaged is said in faults, and what can be
// read is kept. Records of every older version are read.
Record read_record(const std::string& folder);

// Before long work that ends in a record: throws Error (data) when the folder holds one already or can't be made.
void require_no_record(const std::string& folder);

// The last part of a path, with or without a slash at its end.
std::string folder_name(const std::string& path);

}  // namespace lipschitzlr::run
