#include "data/catalogue/table_sets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

const DenseMatrix<double>& dense(const Table& table) { return std::get<DenseMatrix<double>>(table.features); }

// The first cell of every line goes, and so do the blanks after the commas.
std::string without_first_column(std::string_view content) {
  std::string kept;
  kept.reserve(content.size());
  while (!content.empty()) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    std::string_view rest = line.substr(std::min(line.find(','), line.size()));
    if (!rest.empty()) rest.remove_prefix(1);
    std::copy_if(rest.begin(), rest.end(), std::back_inserter(kept), [](char c) { return c != ' ' && c != '\r'; });
    kept += '\n';
  }
  return kept;
}

}  // namespace

Table read_california(const std::vector<std::string>& paths) {
  const Table raw =
      read_table(paths.at(0), {.format = Format::csv, .target = {}, .has_target = false, .header = false});
  if (raw.columns() != 9) {
    throw Error(Fault::data, fmt::format("{}: has {} columns, expected 9", paths.at(0), raw.columns()));
  }
  // longitude, latitude, age, rooms, bedrooms, population, households, income, value
  const auto column = [&](Index number) { return dense(raw).col(number).array(); };
  DenseMatrix<double> features(raw.rows(), 8);
  features.col(0) = column(7);
  features.col(1) = column(2);
  features.col(2) = column(3) / column(6);
  features.col(3) = column(4) / column(6);
  features.col(4) = column(5);
  features.col(5) = column(5) / column(6);
  features.col(6) = column(1);
  features.col(7) = column(0);
  Table table;
  table.features = std::move(features);
  table.feature_names = {"MedInc",     "HouseAge", "AveRooms", "AveBedrms",
                         "Population", "AveOccup", "Latitude", "Longitude"};
  table.target = column(8) / 100000;
  table.target_name = "MedHouseVal";
  return table;
}

Table read_energy(const std::vector<std::string>& paths) {
  Table table = read_table(paths.at(0), {.format = Format::csv, .target = "Y1", .header = true});
  const auto other = std::find(table.feature_names.begin(), table.feature_names.end(), "Y2");
  if (other == table.feature_names.end()) {
    throw Error(Fault::data,
                fmt::format("{}: has no column Y2, so it is not the energy efficiency table", paths.at(0)));
  }
  const Index place = other - table.feature_names.begin(), after = table.columns() - place - 1;
  DenseMatrix<double> kept(table.rows(), table.columns() - 1);
  kept << dense(table).leftCols(place), dense(table).rightCols(after);
  table.features = std::move(kept);
  table.feature_names.erase(other);
  return table;
}

Table read_news(const std::vector<std::string>& paths) {
  const std::string content = without_first_column(read_file(paths.at(0)));
  return parse_table(content, paths.at(0), {.format = Format::csv, .target = "shares", .header = true});
}

Table read_news_without_url(const std::vector<std::string>& paths) {
  return read_table(paths.at(0), {.format = Format::csv, .target = "shares", .header = true});
}

Table read_covertype(const std::vector<std::string>& paths) {
  Table table = read_table(paths.at(0), {.format = Format::csv, .target = {}, .header = {}});
  make_classes(table);
  table.target_name = "Cover_Type";
  table.has_names = true;
  table.feature_names = {"Elevation",
                         "Aspect",
                         "Slope",
                         "Horizontal_Distance_To_Hydrology",
                         "Vertical_Distance_To_Hydrology",
                         "Horizontal_Distance_To_Roadways",
                         "Hillshade_9am",
                         "Hillshade_Noon",
                         "Hillshade_3pm",
                         "Horizontal_Distance_To_Fire_Points"};
  for (int area = 1; area <= 4; ++area) table.feature_names.push_back(fmt::format("Wilderness_Area{}", area));
  for (int soil = 1; soil <= 40; ++soil) table.feature_names.push_back(fmt::format("Soil_Type{}", soil));
  return table;
}

Table read_a9a(const std::vector<std::string>& paths) {
  Table table = read_table(paths.at(0), {.format = Format::libsvm, .target = {}, .header = {}, .columns = 123});
  make_classes(table);
  return table;
}

}  // namespace lipschitzlr::data::catalogue
