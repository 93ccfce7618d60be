#pragma once
// The commands, one file each. A command reads its options, calls the library and prints; errors are thrown.

#include <functional>
#include <memory>
#include <string>

#include "app/command.hpp"
#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/run/fit_options.hpp"
#include "lipschitzlr/run/rows_for_model.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::app {

// Joins the processes that were started together with this one; null when it is alone.
using Connect = std::function<std::unique_ptr<Communicator>()>;
// The libtorch part's `train`; returns the exit code.
using Train = std::function<int(const run::TrainRequest& request, bool json)>;

Command front_program();  // all of them

Command rate_command();
Command fit_command(const Connect& connect = {});
Command predict_command();
Command evaluate_command();
Command inspect_command();
// details: the optimizers. The front command has neither: it starts the libtorch part.
Command train_command(const Train& train = {}, const std::string& details = "");
Command launch_command();
Command data_command();
Command reproduce_command();
Command report_command();
Command demo_command();
Command env_command();

// MODEL, DATA and how to read it: what predict and evaluate share.
struct ModelAndRows {
  std::string model, data;
  data::ReadOptions read;
  run::Columns columns = run::Columns::by_name;
  run::Unknown unknown = run::Unknown::remark;
};
run::Options options_of(ModelAndRows& files, const std::string& target_help);

}  // namespace lipschitzlr::app
