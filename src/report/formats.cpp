#include "lipschitzlr/report/formats.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/chart_series.hpp"

namespace lipschitzlr::report {
namespace {

using Json = nlohmann::ordered_json;

std::vector<const Table*> all_tables(const Document& document) {
  std::vector<const Table*> tables;
  for (const Table& table : document.tables) tables.push_back(&table);
  if (!document.runs.rows.empty()) tables.push_back(&document.runs);
  return tables;
}

std::string figure_name(const Column& column) {
  return column.group.empty() ? column.head : column.group + ": " + column.head;
}

const Origin* source_of(const Document& document, const Cell& cell) {
  return cell.source == kNoSource ? nullptr : &document.sources[static_cast<std::size_t>(cell.source)];
}

Json source_json(const Origin& source) {
  return {{"name", source.name},
          {"record", source.path},
          {"command", source.command},
          {"state", source.state},
          {"faults", source.faults}};
}

Json table_json(const Document& document, const Table& table) {
  Json json{{"id", table.id}, {"title", table.title}, {"rows", Json::array()}};
  for (const TableRow& row : table.rows) {
    Json figures = Json::object(), sources = Json::array();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      Json& figure = figures[figure_name(table.columns[i])];
      figure = std::isfinite(cell.value) ? Json(cell.value) : cell.text == "–" ? Json() : Json(cell.text);
    }
    for (const int number : row.sources) {
      if (number != kNoSource) sources.push_back(source_json(document.sources[static_cast<std::size_t>(number)]));
    }
    json["rows"].push_back({{"id", row.id},
                            {"figures", figures},
                            {"verdict", row.verdict},
                            {"reasons", row.reasons},
                            {"sources", sources}});
    if (!row.hint.empty()) json["rows"].back()["command"] = row.hint;
  }
  return json;
}

// For a cell of a table: no line breaks, and nothing that Markdown or HTML would take for its own.
std::string markdown_text(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (std::string_view("\\`*_[]<>|").find(letter) != std::string_view::npos) result += '\\';
    result += letter == '\n' || letter == '\r' ? ' ' : letter;
  }
  return result;
}

std::string markdown_code(const std::string& text) {
  const std::string fence = text.find('`') == std::string::npos ? "`" : "``";
  return fence + text + fence;
}

std::string markdown_table(const Table& table) {
  std::string text = "|", rule = "|";
  for (const Column& column : table.columns) {
    text += " " + markdown_text(figure_name(column)) + " |";
    rule += column.number ? "---:|" : "---|";
  }
  text += table.id == "runs" ? " state |\n" : " verdict |\n";
  text += rule + "---|\n";
  for (const TableRow& row : table.rows) {
    text += "|";
    for (const Cell& cell : row.cells) {
      text +=
          " " + markdown_text(cell.text) + (cell.remark.empty() ? "" : " (" + markdown_text(cell.remark) + ")") + " |";
    }
    text += " " + markdown_text(row.verdict) + " |\n";
  }
  return text;
}

std::string markdown_reasons(const Document& document, const Table& table) {
  std::string text;
  for (const TableRow& row : table.rows) {
    std::string line = fmt::format("* **{}**: {}.", markdown_text(row.id), markdown_text(row.verdict));
    for (const std::string& reason : row.reasons) line += " " + markdown_text(reason);
    for (const int number : row.sources) {
      if (number == kNoSource) continue;
      const std::string& command = document.sources[static_cast<std::size_t>(number)].command;
      if (!command.empty()) line += " " + markdown_code(command);
    }
    if (!row.hint.empty()) line += " To run it: " + markdown_code(row.hint);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string to_csv(const Document& document) {
  std::string text = "table,row,figure,value,verdict,record,command\n";
  for (const Table* table : all_tables(document)) {
    for (const TableRow& row : table->rows) {
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const Cell& cell = row.cells[i];
        if (!std::isfinite(cell.value)) continue;
        const Origin* source = source_of(document, cell);
        text += fmt::format("{},{},{},{},{},{},{}\n", table->id, csv_field(row.id),
                            csv_field(figure_name(table->columns[i])), cell.value, csv_field(row.verdict),
                            source == nullptr ? "" : csv_field(source->path),
                            source == nullptr ? "" : csv_field(source->command));
      }
    }
  }
  return text;
}

std::string to_json(const Document& document) {
  Json json{{"title", document.title}, {"summary", document.summary}, {"verdicts", Json::object()}};
  for (const Tally& one : document.tally) json["verdicts"][one.word] = one.count;
  json["tables"] = Json::array();
  for (const Table& table : document.tables) json["tables"].push_back(table_json(document, table));
  json["records"] = table_json(document, document.runs)["rows"];
  json["charts"] = charts_json(document);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_markdown(const Document& document) {
  std::string text = "# " + markdown_text(document.title) + "\n\n";
  for (const std::string& sentence : document.summary) text += markdown_text(sentence) + "\n\n";
  for (const Table* table : all_tables(document)) {
    text += fmt::format("## {}\n\n{}\n\n{}\n{}\n", markdown_text(table->title), markdown_text(table->about),
                        markdown_table(*table), markdown_reasons(document, *table));
  }
  return text;
}

}  // namespace lipschitzlr::report
