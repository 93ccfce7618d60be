// Any bytes as a record (config.json, metrics.jsonl, summary.json, failure.txt) and a table of `reproduce --json`,
// with a zero byte between the files: a page can be made of them whatever they hold, and its JSON is JSON.

#include <cstdint>
#include <cstdlib>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lipschitzlr/report/compose.hpp"
#include "lipschitzlr/report/formats.hpp"
#include "scratch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  static const Scratch scratch;
  static const std::vector<experiment::Recipe> recipes = experiment::recipes();
  const std::string names[] = {"run/config.json", "run/metrics.jsonl", "run/summary.json", "run/failure.txt",
                               "table.json"};
  std::filesystem::remove_all(scratch.path("run"));
  std::filesystem::remove(scratch.path("table.json"));
  std::filesystem::create_directory(scratch.path("run"));
  const std::vector<std::string> files = split(std::string(reinterpret_cast<const char*>(bytes), size), '\0');
  for (std::size_t i = 0; i < files.size() && i < std::size(names); ++i) {
    if (!files[i].empty()) scratch.write(names[i], files[i]);
  }
  const experiment::Collection collection = experiment::collect({scratch.path("run"), scratch.path("table.json")});
  const report::Document document = report::compose(collection, {.title = "", .recipes = recipes});
  parse_json(to_json(document), "page");
  if (to_csv(document).empty() || to_markdown(document).empty()) std::abort();
  if (to_html(document, scratch.path()).find("</html>") == std::string::npos) std::abort();
  return 0;
}
