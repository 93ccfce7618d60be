#pragma once
// What a user asks of `train`. The protocol decides what is left open:
//   published  the paper's text: K_z measured in the training steps, corrected averages, a validation split
//   coded      what made its tables (method.md, sections 3 and 4): a pass before each epoch, the "weight decay" of the
//              tables as rate decay and as lambda of the constant, Keras's l2(1e-4) on some weights, running statistics
//              in max ||w||, Keras's clipped cross-entropy, the test set as validation set
// Needs no libtorch; run/trainer_setup.hpp says what it means for a Trainer.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/nn/network_options.hpp"
#include "lipschitzlr/rate/options.hpp"
#include "lipschitzlr/rate/schedule.hpp"
#include "lipschitzlr/rate/second_moment.hpp"
#include "lipschitzlr/run/fit_options.hpp"
#include "lipschitzlr/run/option.hpp"
#include "lipschitzlr/run/progress.hpp"

namespace lipschitzlr::nn {
enum class Measure;       // nn/trainer.hpp, which includes libtorch
enum class TrainingLoss;  // nn/training_loss.hpp, likewise
}  // namespace lipschitzlr::nn

namespace lipschitzlr::run {

enum class Policy { adaptive, fixed, baseline, grid };
enum class Protocol { published, coded };
// Which constant of the loss G is: of bound/loss.hpp, or the tight one of nn/tap.hpp.
enum class NetworkConstant { published, coded, certified, tight };

// The rate of the first epoch.
struct FirstRate {
  enum class Kind { usual, none, search, number };  // usual: 0.1 for AdaMo, the paper's, else none

  Kind kind = Kind::usual;
  double number = 0;
};

struct TrainOptions {
  std::string data = "mnist";  // a named set or a folder of PNG files, or a table: a file or a named one
  DataOptions table;           // how a table is read and becomes features; its source and seed are filled in from here
  std::string network;         // empty: mnist-cnn for small grey images, else resnet20-v1, for a table mlp-64-64
  std::string optimizer;       // empty: auto, with the protocol coded adamo
  std::map<std::string, double> settings;  // of an optimizer that has some
  std::optional<Policy> policy;            // default: adaptive, or baseline for an optimizer with step sizes of its own
  Protocol protocol = Protocol::published;
  std::optional<std::int64_t> epochs;  // default: 20, for a table by its rows
  std::optional<Index> batch;        // default: 256 for grey images, else 128, as in the paper; for a table by its rows
  bool drop_last = false;            // no smaller batch at the end of an epoch
  std::optional<double> validation;  // share of the training images; default: 0.1, coded: 0, the test set
  std::optional<Index> limit;        // only so many training images
  bool augment = true;               // as the paper does for the kind of images
  std::optional<nn::TrainingLoss> loss;  // of classes; default: by protocol
  bool double_precision = false;
  bool check = false;  // measure every step
  std::uint64_t seed = 1;
  unsigned threads = 0;
  FirstRate first_rate;
  rate::RuleOptions rule;          // first_rate, bias_correction and coded_denominator are filled in from here
  bool search_k2 = false;          // choose rule.initial_k2 among the paper's by short trials
  std::optional<double> l2;        // lambda; coded: in the constant only, by default the decay
  std::optional<double> constant;  // G, instead of what is measured
  std::optional<NetworkConstant> constant_kind;     // default: by protocol
  std::optional<nn::Measure> measure;               // default: by protocol
  std::optional<rate::SecondMoment> second_moment;  // default: by protocol
  std::optional<bool> bias_correction;              // default: by protocol
  std::optional<double> rate;                       // of the policy baseline; of grid, once it is found
  rate::Schedule schedule = rate::Schedule::constant;
  std::optional<std::int64_t> schedule_epochs;  // default: all epochs
  double warmup = 0;                            // share of the schedule's steps
  std::vector<double> grid;                     // the rates to try; empty: the usual grid
  std::optional<std::int64_t> grid_epochs;      // of each trial
  std::optional<Index> grid_images;             // of each trial
  nn::NetworkOptions architecture;              // padding and batch norm of the network
  std::optional<nn::DenseStart> dense_start;    // default: by protocol and network

  // Of a policy that is set: whether it computes the rates.
  bool computes_rates() const { return policy == Policy::adaptive || policy == Policy::fixed; }
};

// A training: what is asked of it, where it goes and how it shows itself.
struct TrainRequest {
  TrainOptions options;
  std::string folder;                        // of the run; empty: a new one under runs/
  std::string resume;                        // the folder of a run to continue, with the options in its config.json
  std::optional<std::int64_t> more_epochs;   // with resume: the new number of epochs
  std::string weights;                       // to start from; empty: at random
  std::optional<std::int64_t> log_steps;     // a line in the record every so many steps; 0: epochs only; default 50
  std::optional<double> checkpoint_minutes;  // default 5; with resume, both are by default what they were
  bool watch = false;                        // plots of loss and rate
  std::vector<std::string> command = {};     // the words of the command line, for the record
  Verbosity verbosity = Verbosity::silent;
  // The processes that train together; null: this one alone. Rank 0 writes the folder and shows progress, the others
  // need not see the folder. All must have the same options and images.
  Communicator* communicator = nullptr;
};

Options options_of(TrainOptions& options);      // all that are part of the record
std::vector<std::string> table_option_names();  // those that only a table has a use for
Options options_of(TrainRequest& request);      // those, and the rest of the command line

}  // namespace lipschitzlr::run
