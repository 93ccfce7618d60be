#include "lipschitzlr/experiment/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::experiment {
namespace {

// The id of the one row that is meant.
std::string id_of(const std::string& name) {
  std::vector<std::string> ids;
  const auto look = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (row.id() == name || row.name == name) ids.push_back(row.id());
    }
  };
  look(recipes());
  look(network_recipes());
  if (ids.empty()) {
    throw Error(Fault::usage, fmt::format("there is no table or row \"{}\"; `lipschitzlr reproduce list` shows them, "
                                          "`lipschitzlr reproduce --help` the commands",
                                          name));
  }
  if (ids.size() > 1) throw Error(Fault::usage, fmt::format("\"{}\" may be {}", name, fmt::join(ids, " or ")));
  return ids[0];
}

template <class Row>
std::vector<Row> chosen(const std::vector<Row>& rows, const std::vector<std::string>& ids) {
  std::vector<Row> list;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(list),
               [&](const Row& row) { return std::find(ids.begin(), ids.end(), row.id()) != ids.end(); });
  return list;
}

}  // namespace

Selection select_rows(const std::vector<std::string>& names) {
  std::vector<std::string> ids;
  for (const std::string& name : names) ids.push_back(id_of(name));
  return {chosen(recipes(), ids), chosen(network_recipes(), ids)};
}

Selection all_rows() { return {recipes(), network_recipes()}; }

}  // namespace lipschitzlr::experiment
