#pragma once
// Options that several commands share, so that they read and behave alike everywhere.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "lipschitzlr/run/prepare.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::app {

inline constexpr const char* kDataHelp =
    "CSV, TSV or LIBSVM file (.gz and .xz too), - for standard input, or a name from `lipschitzlr data list`";

// How to read the file: --target, --format, --header. target_help says which column is taken without --target.
void add_read_options(CLI::App& command, data::ReadOptions& read, const std::string& target_help);
// What to learn: DATA, the read options, --model, --scale, --no-intercept, --l2, --tikhonov, --weight-bound, ...
void add_data_options(CLI::App& command, run::DataChoice& choice);
// How to train: --solver, --rate, --recompute, --batch, stops, ...
void add_training_options(CLI::App& command, run::TrainingChoice& choice);
void add_json_option(CLI::App& command, bool& json);
// What another number of threads does to the results.
enum class Bits { same, differ };
void add_threads_option(CLI::App& command, unsigned& threads, Bits bits = Bits::same);

// Refuse a value with "--l2 -1: expected a number of 0 or more", what being the end of that sentence.
CLI::Option* expect_number(CLI::Option* option, const std::string& what, const std::function<bool(double)>& accepts);
CLI::Option* expect_positive(CLI::Option* option);
CLI::Option* expect_not_negative(CLI::Option* option);
CLI::Option* expect_share(CLI::Option* option);  // from 0 to below 1
CLI::Option* expect_whole(CLI::Option* option, std::int64_t least,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max());
// The folder of downloaded data for display; where there is none, how to get one.
std::string shown_cache_folder();
// Breaks the descriptions of all options so far into lines, for a terminal of 100 columns.
void fold_help(CLI::App& command);

}  // namespace lipschitzlr::app
