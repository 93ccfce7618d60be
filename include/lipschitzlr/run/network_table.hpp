#pragma once
// A network of a table in the folder of its run: table.json has what it knows beside its weights
// (linear/table_model.hpp) and the units of its outputs, best.safetensors the weights of the best epoch, config.json
// the architecture. Nothing else is needed to predict.

#include <string>

#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/linear/table_model.hpp"

namespace lipschitzlr::run {

struct NetworkTable : linear::TableModel {
  double target_mean = 0, target_deviation = 1;  // of a number: it is mean + deviation * output
  std::string fingerprint;                       // of the rows it was trained on
};

// Whether DATA of `train` is a table, and not a set or folder of images.
bool names_table(const std::string& data);

// Whether the path is the folder of a run, and not a model file.
bool is_run_folder(const std::string& path);

void save_network_table(const NetworkTable& table, const std::string& folder);
// Throws Error (data) when the folder has none, as that of images, or when it is damaged.
NetworkTable load_network_table(const std::string& folder);

// Outputs of the network, a row per example, as scores of the family: numbers in the units of the file.
DenseMatrix<double> in_units(const NetworkTable& table, DenseMatrix<double> outputs);

// The scores of rows with the columns of the table (rows_for_model.hpp), by the weights of the best epoch. Needs
// libtorch: is in run_networks. Throws Error (data).
DenseMatrix<double> network_scores(const std::string& folder, const NetworkTable& table, const data::Table& rows,
                                   unsigned threads);

}  // namespace lipschitzlr::run
