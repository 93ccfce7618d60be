#pragma once
// The commands, one file each. A command reads its options, calls the library and prints; errors are thrown.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/command.hpp"
#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/linear/model.hpp"
#include "lipschitzlr/run/fit_options.hpp"
#include "lipschitzlr/run/network_table.hpp"
#include "lipschitzlr/run/rows_for_model.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::app {

// Joins the processes that were started together with this one; null when it is alone.
using Connect = std::function<std::unique_ptr<Communicator>()>;
// The libtorch part's `train`; returns the exit code.
using Train = std::function<int(const run::TrainRequest& request, bool json)>;

// The scores of a network for rows of a table (run::network_scores). The front command has none: it starts the libtorch
// part.
using ScoreNetwork = std::function<DenseMatrix<double>(const std::string& folder, const run::NetworkTable& table,
                                                       const data::Table& rows, unsigned threads)>;

Command front_program();  // all of them

Command rate_command();
Command fit_command(const Connect& connect = {});
Command predict_command(const ScoreNetwork& score_network = {});
Command evaluate_command(const ScoreNetwork& score_network = {});
Command inspect_command();
// details: the optimizers. The front command has neither: it starts the libtorch part.
Command train_command(const Train& train = {}, const std::string& details = "");
Command launch_command();
Command data_command();
Command reproduce_command();
Command report_command();
Command demo_command();
Command env_command();

// A model of a table: a linear one from its file, or a network from the folder of its run.
class AnyModel {
 public:
  AnyModel(std::string path, ScoreNetwork score_network);
  const linear::TableModel& table() const;
  DenseMatrix<double> scores(const data::Table& rows, unsigned threads) const;
  // The same block by block, so that those of all rows are not held; of a network all at once.
  void visit_scores(const data::Table& rows, unsigned threads,
                    const std::function<void(const DenseMatrix<double>&)>& visit) const;

 private:
  std::string path_;
  ScoreNetwork score_network_;
  std::optional<linear::Model> model_;
  std::optional<run::NetworkTable> network_;
};

// MODEL, DATA and how to read it: what predict and evaluate share.
struct ModelAndRows {
  std::string model, data;
  data::ReadOptions read;
  run::Columns columns = run::Columns::by_name;
  run::Unknown unknown = run::Unknown::remark;
};
run::Options options_of(ModelAndRows& files, const std::string& target_help);

}  // namespace lipschitzlr::app
