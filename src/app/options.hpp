#pragma once
// Options that several commands share, so that they read and behave alike everywhere.

#include <CLI/CLI.hpp>
#include <string>

#include "lipschitzlr/run/prepare.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::app {

inline constexpr const char* kDataHelp =
    "CSV, TSV or LIBSVM file (.gz and .xz too), - for standard input, or a name from `lipschitzlr data list`";

// How to read the file: --target, --format, --header.
void add_read_options(CLI::App& command, data::ReadOptions& read);
// What to learn: DATA, the read options, --model, --scale, --no-intercept, --l2, --tikhonov, --weight-bound, ...
void add_data_options(CLI::App& command, run::DataChoice& choice);
// How to train: --solver, --rate, --recompute, --batch, stops, ...
void add_training_options(CLI::App& command, run::TrainingChoice& choice);
void add_json_option(CLI::App& command, bool& json);
void add_threads_option(CLI::App& command, unsigned& threads);

}  // namespace lipschitzlr::app
