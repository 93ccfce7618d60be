#pragma once
// From a file or a named data set to a training problem: read, choose the model, set rows aside, learn on the training
// rows how columns become features, and the scaling, find K. What rows look like is learned of all training rows, also
// those that a fold of cross-validation then leaves out: no target is in it. Shared by every command that trains or
// measures.

#include <string>
#include <vector>

#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/linear/fit.hpp"
#include "lipschitzlr/run/fit_options.hpp"

namespace lipschitzlr::run {

struct Prepared : linear::Preparation {
  data::Encoder encoder;                       // learned on the training rows, too
  data::Table train, test;                     // encoded
  Vector<double> train_weights, test_weights;  // of the rows; empty: all alike
  Index train_rows = 0, test_rows = 0;         // of all processes
  std::vector<double> bytes_read;              // by each process, where each reads its part; empty: all read everything
};

// The name of a source in messages: "-" is standard input.
std::string display_name(const std::string& source);

// The table behind a source. A file wins over a name. Throws Error (data) when it is neither. With a communicator each
// process gets rows of its own, in order of rank: those of the part of the source that it reads, or, where it has to be
// read as a whole, its share of them. Collective.
data::Table load_table(const std::string& source, const data::ReadOptions& options,
                       Communicator* communicator = nullptr);

// Collective: what is learned is learned of the rows of all processes.
Prepared prepare(const DataOptions& options, Communicator* communicator = nullptr);

// Learns scaling and K again, of other training rows or with another penalty. Collective.
void learn_preparation(const DataOptions& options, Prepared& prepared, Communicator* communicator = nullptr);

// The model that the options ask for: scaling, intercept, penalty, K.
linear::FitOptions model_of(const DataOptions& options);

// One sentence on what was read and what will be learnt.
std::string describe(const DataOptions& options, const Prepared& prepared);

}  // namespace lipschitzlr::run
