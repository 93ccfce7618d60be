#include "lipschitzlr/run/network_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::run {
namespace {

constexpr const char* kTableFormat = "lipschitzlr-network-table";
constexpr int kTableVersion = 1;

std::string table_path(const std::string& folder) { return folder + "/table.json"; }

}  // namespace

bool names_table(const std::string& data) {
  if (const data::catalogue::Entry* entry = data::catalogue::find(data)) return !entry->holds_images();
  std::error_code unreadable;
  return !std::filesystem::is_directory(data, unreadable);
}

bool is_run_folder(const std::string& path) {
  std::error_code unreadable;
  return std::filesystem::exists(path + "/config.json", unreadable);
}

void save_network_table(const NetworkTable& table, const std::string& folder) {
  const nlohmann::ordered_json file = {
      {"format", kTableFormat},           {"version", kTableVersion},
      {"target_mean", table.target_mean}, {"target_deviation", table.target_deviation},
      {"fingerprint", table.fingerprint}, {"table", parse_ordered_json(linear::table_to_json(table), "")}};
  write_file_atomically(table_path(folder), file.dump(1) + "\n");
}

NetworkTable load_network_table(const std::string& folder) {
  const std::string path = table_path(folder);
  if (!std::filesystem::exists(path)) {
    throw Error(
        Fault::data,
        fmt::format("{}: is not a run on a table: it has no table.json; the model of a `fit` is the file that -o "
                    "wrote, and for a network of images there is `lipschitzlr evaluate --weights`",
                    folder));
  }
  const nlohmann::json file = parse_json(read_file(path), path);
  const auto refuse = [&](const std::string& reason) { throw Error(Fault::data, fmt::format("{}: {}", path, reason)); };
  if (!file.is_object() || text_or(file, "format") != kTableFormat) refuse("is not the table of a network");
  if (const std::int64_t version = whole_or(file, "version", 0); version != kTableVersion) {
    refuse(fmt::format("its version is {}, this program reads {}", version, kTableVersion));
  }
  NetworkTable table;
  static_cast<linear::TableModel&>(table) = linear::table_from_json(file.value("table", nlohmann::json()).dump(), path);
  table.target_mean = number_or(file, "target_mean", NAN);
  table.target_deviation = number_or(file, "target_deviation", NAN);
  table.fingerprint = text_or(file, "fingerprint");
  if (!std::isfinite(table.target_mean) || !(table.target_deviation > 0)) refuse("the units of its target are missing");
  if (table.scaler.intercept) refuse("a network has no column of ones");
  return table;
}

DenseMatrix<double> in_units(const NetworkTable& table, DenseMatrix<double> outputs) {
  if (table.family == linear::Family::linear) {
    outputs = (outputs.array() * table.target_deviation + table.target_mean).matrix();
  }
  return outputs;
}

}  // namespace lipschitzlr::run
