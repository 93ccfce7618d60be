#pragma once
// What a user asks of `train`, in the words of the command line, and what that means for a Trainer under each protocol:
//   published  the paper's text: K_z measured in the training steps, corrected averages, a validation split
//   coded      what made its tables (method.md, sections 3 and 4): a pass before each epoch, the "weight decay" of the
//              tables as rate decay and as lambda of the constant, Keras's l2(1e-4) on some weights, running statistics
//              in max ||w||, the test set as validation set

#include <cstdint>
#include <optional>
#include <string>

#include "lipschitzlr/data/image/images.hpp"
#include "lipschitzlr/nn/trainer.hpp"

namespace lipschitzlr::run {

struct NetworkChoice {
  std::string data = "mnist";  // a named image set or a folder of PNG files
  std::string network;         // empty: mnist-cnn for small grey images, else resnet20-v1
  std::string optimizer = "adamo";
  std::string settings;  // of an optimizer that has some: "beta1=0.8,epsilon=1e-6"
  // baseline, fixed, adaptive, or grid: baseline with a rate found by trials; empty: adaptive, or baseline for an
  // optimizer with step sizes of its own
  std::string policy;
  std::string protocol = "published";
  std::int64_t epochs = 20;
  Index batch = 0;                    // 0: 256 for grey images, else 128, as in the paper
  std::string first_rate;             // a number, "search", "none", or empty: 0.1 for AdaMo (the paper's), else none
  std::optional<double> rate;         // of the policy baseline; of grid, once it is found
  std::string schedule = "constant";  // of that rate: see rate/schedule.hpp
  std::optional<std::int64_t> schedule_epochs;  // how long it lasts; by default all epochs
  std::string grid;                             // the rates to try; empty: the usual grid
  std::optional<std::int64_t> grid_epochs;      // of each trial
  std::optional<Index> grid_images;             // of each trial
  double decay = 0;                             // rate / (1 + decay step)
  std::optional<double> l2;                     // lambda; coded: the decay, in the constant only
  std::optional<double> constant;               // G, instead of what is measured
  std::string update = "epoch";                 // or iteration
  std::string measure;                          // in-step, pass; empty: by protocol
  std::string second_moment;                    // see rate/second_moment.hpp; empty: by protocol
  std::string bias_correction;                  // yes, no; empty: by protocol
  double beta = 0.9, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  std::optional<double> k1, k2;
  bool hold_averages = false;
  std::string padding = "tensorflow";
  std::optional<double> bn_epsilon, bn_momentum;
  std::string augment = "auto";      // none; auto: the paper's for the kind of images
  std::optional<double> validation;  // share of the training images; coded: none, the test set
  Index limit = 0;                   // only so many training images; 0: all
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::string precision = "single";  // or double: numbers of 64 bits
};

// JSON and back, every field by its name. network_choice_from throws Error (data) when the text is no such object.
std::string to_json(const NetworkChoice& choice);
NetworkChoice network_choice_from(const std::string& json);

// Fills in what was left open by the images. Throws Error (usage) naming the option that makes no sense.
NetworkChoice completed(NetworkChoice choice, const data::ImageSet& images);

// Whether the policy of a completed choice computes its rates, rather than taking a usual one.
bool computes_rates(const NetworkChoice& completed_choice);

// first_rate must be a number or empty. Throws Error (usage).
nn::TrainerOptions trainer_options(const NetworkChoice& completed_choice, const data::ImageSet& images);

}  // namespace lipschitzlr::run
