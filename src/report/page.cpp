#include "embedded/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/report/formats.hpp"
#include "report/chart_series.hpp"
#include "report/html.hpp"

namespace lipschitzlr::report {
namespace {

std::string_view page_file(std::string_view name) {
  for (const embedded::File& file : embedded::page()) {
    if (file.name == name) return file.content;
  }
  throw Error(Fault::data, fmt::format("this build has no {}", name));
}

class PageWriter {
 public:
  PageWriter(const Document& document, const std::string& folder) : document_(document), folder_(folder) {
    thin_out(document_.charts);
  }

  std::string write() const {
    return fill_template(page_file("page.html"),
                         {{"title", escaped(document_.title)},
                          {"style", std::string(page_file("page.css"))},
                          {"navigation", navigation()},
                          {"summary", summary()},
                          {"tables", tables()},
                          {"charts", chart_groups()},
                          {"runs", document_.runs.rows.empty() ? "" : table(document_.runs)},
                          {"library", std::string(page_file("chart.min.js"))},
                          {"data", json_for_script(charts_json(document_).dump(
                                       -1, ' ', false, nlohmann::json::error_handler_t::replace))},
                          {"script", std::string(page_file("page.js"))}});
  }

 private:
  std::string navigation() const {
    std::string items = link("#summary", "In short");
    for (const Table& one : document_.tables) items += link("#" + one.id, one.title.substr(0, one.title.find(':')));
    for (const ChartGroup& group : document_.charts) items += link("#" + group.id, group.title);
    if (!document_.runs.rows.empty()) items += link("#" + document_.runs.id, "Records");
    return items + link("#reading", "How to read this");
  }

  static std::string link(const std::string& address, const std::string& text) {
    return element("a", {{"href", address}}, escaped(text)) + "\n";
  }

  std::string summary() const {
    std::string tiles, sentences;
    for (const Tally& one : document_.tally) {
      tiles += element("li", {{"class", "tile " + identifier(one.word)}},
                       element("strong", {}, fmt::format("{}", one.count)) + " " + escaped(one.word));
    }
    for (const std::string& sentence : document_.summary) sentences += element("p", {}, escaped(sentence)) + "\n";
    return (tiles.empty() ? "" : element("ul", {{"class", "tiles"}}, tiles) + "\n") + sentences;
  }

  std::string tables() const {
    std::string result;
    for (const Table& one : document_.tables) result += table(one);
    return result;
  }

  std::string table(const Table& one) const {
    const bool judged =
        std::any_of(one.rows.begin(), one.rows.end(), [](const TableRow& row) { return !row.verdict.empty(); });
    std::string rows;
    for (const TableRow& each : one.rows) rows += row(each, one, judged);
    const std::string grid = element("table", {{"class", "sortable"}}, head(one, judged) + rows);
    const auto unrun =
        std::count_if(one.rows.begin(), one.rows.end(), [](const TableRow& each) { return each.sources.empty(); });
    const Attributes switch_off = {{"type", "button"}, {"class", "filter"}, {"aria-pressed", "false"}};
    const std::string filter =
        unrun == 0 ? "" : element("button", switch_off, fmt::format("hide {} not run", counted(unrun, "row")));
    const Attributes scroll = {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", one.title}};
    return element("section", {{"id", one.id}},
                   element("h2", {}, escaped(one.title)) +
                       element("p", {{"class", "about"}}, escaped(one.about + " Click a heading to sort.")) + filter +
                       element("div", scroll, grid)) +
           "\n";
  }

  static std::string head(const Table& one, bool judged) {
    std::vector<Column> columns = one.columns;
    // Beside the name, where it is in sight on a phone too.
    if (judged) columns.insert(columns.begin() + 1, {"", one.id == "runs" ? "state" : "verdict", false});
    std::string groups, heads;
    for (std::size_t i = 0; i < columns.size();) {
      std::size_t end = i + 1;
      while (end < columns.size() && !columns[i].group.empty() && columns[end].group == columns[i].group) ++end;
      groups +=
          element("th", {{"colspan", fmt::format("{}", end - i)}, {"scope", "colgroup"}}, escaped(columns[i].group));
      i = end;
    }
    for (const Column& column : columns) {
      heads += element("th", {{"scope", "col"}, {"class", column.number ? "number" : "word"}, {"aria-sort", "none"}},
                       element("button", {{"type", "button"}}, escaped(column.head)));
    }
    const bool grouped =
        std::any_of(columns.begin(), columns.end(), [](const Column& column) { return !column.group.empty(); });
    return element("thead", {},
                   (grouped ? element("tr", {{"class", "groups"}}, groups) : "") + element("tr", {}, heads)) +
           "\n";
  }

  std::string row(const TableRow& each, const Table& one, bool judged) const {
    std::string cells;
    for (std::size_t i = 0; i < each.cells.size(); ++i) {
      cells += cell(each.cells[i], one.columns[i], i == 0);
      if (judged && i == 0) cells += verdict(each.verdict);
    }
    const std::string why = explanation(each);
    const std::string span = fmt::format("{}", each.cells.size() + (judged ? 1 : 0));
    Attributes attributes = {{"class", each.sources.empty() ? "unrun" : "run"}};
    // Folders are linked to, rows of the paper can be.
    if (one.id != document_.runs.id) attributes.push_back({"id", identifier(each.id)});
    return element(
               "tbody", attributes,
               element("tr", {}, cells) +
                   (why.empty() ? "" : element("tr", {{"class", "why"}}, element("td", {{"colspan", span}}, why)))) +
           "\n";
  }

  static std::string verdict(const std::string& text) {
    const std::string word = text.substr(0, text.find(':'));
    return element("td", {{"class", "word"}}, element("span", {{"class", "badge " + identifier(word)}}, escaped(text)));
  }

  std::string cell(const Cell& one, const Column& column, bool first) const {
    std::string content = escaped(one.text);
    const Origin* const found =
        one.source == kNoSource ? nullptr : &document_.sources[static_cast<std::size_t>(one.source)];
    if (found != nullptr && found->state != "missing") {
      const Origin& source = *found;
      Attributes attributes = {{"href", relative_link(source.path, folder_)}};
      if (!source.command.empty()) attributes.push_back({"title", "made by: " + source.command});
      content = element("a", attributes, content);
    }
    if (!one.remark.empty()) content += element("small", {}, escaped(one.remark));
    Attributes attributes = {{"class", column.number ? "number" : "word"}};
    if (std::isfinite(one.value)) attributes.push_back({"data-value", fmt::format("{}", one.value)});
    if (first) attributes.push_back({"scope", "row"});
    return element(first ? "th" : "td", attributes, content);
  }

  // The first reason is always to be seen, the others and the commands on request.
  std::string explanation(const TableRow& each) const {
    std::string rest;
    for (std::size_t i = 1; i < each.reasons.size(); ++i) rest += element("p", {}, escaped(each.reasons[i]));
    for (const int number : each.sources) {
      if (number != kNoSource) rest += origin(document_.sources[static_cast<std::size_t>(number)]);
    }
    if (!each.hint.empty()) rest += element("p", {}, "To run it: " + command(each.hint));
    const std::string first = each.reasons.empty() ? "" : escaped(each.reasons[0]);
    if (rest.empty()) return first.empty() ? "" : element("div", {{"class", "reasons"}}, element("p", {}, first));
    const std::string summary = element("summary", {}, first.empty() ? "where it comes from" : first);
    return element("details", {{"class", "reasons"}}, summary + rest);
  }

  std::string origin(const Origin& source) const {
    if (source.state == "missing") return "";
    const std::string record =
        "Record: " + element("a", {{"href", relative_link(source.path, folder_)}}, escaped(source.path));
    if (source.command.empty()) return element("p", {}, record + " (it does not say by which command it was made)");
    return element("p", {}, "Made by " + command(source.command)) + element("p", {}, record);
  }

  static std::string command(const std::string& text) {
    return element("code", {{"class", "command"}}, escaped(text)) + " " +
           element("button", {{"type", "button"}, {"class", "copy"}}, "copy");
  }

  std::string chart_groups() const {
    std::string result;
    for (const ChartGroup& group : document_.charts) {
      std::string charts;
      for (const Chart& one : group.charts) charts += chart(one);
      const bool panels = !group.charts.empty() && group.charts.front().small;
      result += element("section", {{"id", group.id}},
                        element("h2", {}, escaped(group.title)) +
                            (group.about.empty() ? "" : element("p", {{"class", "about"}}, escaped(group.about))) +
                            element("div", {{"class", panels ? "charts panels" : "charts"}}, charts)) +
                "\n";
    }
    return result;
  }

  // Every cell with its share of the row, which is how dark it is.
  static std::string matrix(const Chart& one) {
    std::string heads = element("th", {{"scope", "col"}}, escaped(one.y.label)), rows;
    for (const std::string& name : one.names) heads += element("th", {{"scope", "col"}}, escaped(name));
    for (std::size_t i = 0; i < one.matrix.size(); ++i) {
      const double total = std::accumulate(one.matrix[i].begin(), one.matrix[i].end(), 0.0);
      std::string cells = element("th", {{"scope", "row"}}, escaped(one.names[i]));
      for (std::size_t j = 0; j < one.matrix[i].size(); ++j) {
        const double share = total > 0 ? one.matrix[i][j] / total : 0;
        cells += element(
            "td", {{"class", i == j ? "number right" : "number"}, {"style", fmt::format("--share: {:.3f}", share)}},
            fmt::format("{:.6g}", one.matrix[i][j]));
      }
      rows += element("tr", {}, cells);
    }
    const Attributes scroll = {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", one.title}};
    return element("div", scroll,
                   element("table", {{"class", "matrix"}},
                           element("thead", {}, element("tr", {}, heads)) + element("tbody", {}, rows)));
  }

  static std::string chart(const Chart& one) {
    const std::string label = fmt::format("{}: {} over {}", one.title, one.y.label, one.x.label);
    std::string content = element("figcaption", {}, escaped(one.title));
    if (!one.about.empty()) content += element("p", {{"class", "about"}}, escaped(one.about));
    if (one.kind == ChartKind::matrix) {
      content += matrix(one);
    } else if (!one.series.empty()) {
      content += element("div", {{"class", "plot"}}, element("canvas", {{"role", "img"}, {"aria-label", label}}, ""));
      content += element("div", {{"class", "legend"}}, "") + element("div", {{"class", "tools"}}, "");
    }
    return element("figure", {{"id", one.id}, {"class", "chart"}}, content) + "\n";
  }

  Document document_;
  const std::string& folder_;
};

}  // namespace

std::string to_html(const Document& document, const std::string& folder) {
  return PageWriter(document, folder).write();
}

std::string relative_link(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path from = fs::weakly_canonical(fs::absolute(folder.empty() ? "." : folder, failure), failure);
  const fs::path to = fs::weakly_canonical(fs::absolute(path, failure), failure);
  fs::path relative = to.lexically_relative(from);
  std::string text = relative.empty() ? path : relative.string();
  if (fs::is_directory(path, failure) && !text.ends_with('/')) text += '/';
  std::string link;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    const bool plain =
        code < 128 && (std::isalnum(code) != 0 || std::string_view("-._~/").find(letter) != std::string_view::npos);
    link += plain ? std::string(1, letter) : fmt::format("%{:02X}", code);
  }
  return link;
}

}  // namespace lipschitzlr::report
