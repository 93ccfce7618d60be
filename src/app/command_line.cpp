#include "app/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::app {
namespace {

using run::Option;

constexpr std::size_t kHelpColumn = 34;  // where descriptions begin
constexpr const char* kConfig = "--config";

// The options in the file of --config: their names and words.
using Config = std::map<std::string, std::vector<std::string>>;

const Command* find(const std::vector<Command>& commands, const std::string& name) {
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const Command& one) { return one.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_twice(const std::string& path, const std::string& name) {
  throw Error(Fault::usage, fmt::format("{}: {} has several values: give it once", path, name));
}

// A section of the file with the name of a command is for that command alone.
Config read_config(const std::string& path, const std::string& command) {
  std::istringstream text(read_file(path));
  Config config;
  std::set<std::pair<bool, std::string>> seen;  // whether above all sections, and the name
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(text)) {
      const bool ours = item.parents.empty() || item.parents == std::vector{command};
      if (!ours || item.name == "++" || item.name == "--") continue;  // its marks of a section
      if (!seen.emplace(item.parents.empty(), item.name).second) refuse_twice(path, item.name);
      config[item.name] = item.inputs;
    }
  } catch (const CLI::Error& error) {
    throw Error(Fault::data, fmt::format("{}: {}", path, error.what()));
  }
  return config;
}

// The value of --config has to be known before the rest: it may hold what is required.
std::string config_path(const Command& program, const std::vector<std::string>& words) {
  const Command* const command = words.empty() ? nullptr : find(program.commands, words[0]);
  if (command == nullptr || !command->takes_config) return "";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == kConfig && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(std::string(kConfig) + "=")) return words[i].substr(std::string(kConfig).size() + 1);
  }
  return "";
}

bool has_name(const Option& option, const std::string& name) {
  return option.name == name || flag_of(option) == "--" + name;
}

bool is_in(const Config& config, const Option& option) {
  return std::any_of(config.begin(), config.end(), [&](const auto& item) { return has_name(option, item.first); });
}

// What is on the command line wins.
void apply(const Config& config, const std::string& path, const Command& command, Call& call) {
  for (const auto& [name, words] : config) {
    const auto found = std::find_if(command.options.begin(), command.options.end(),
                                    [&, &called = name](const Option& option) { return has_name(option, called); });
    if (found == command.options.end()) {
      throw Error(Fault::usage, fmt::format("{}: {} has no option \"{}\"", path, command.name, name));
    }
    // CLI11 joins lines of one name that follow each other.
    if (words.size() > 1 && found->member.kind != run::Member::Kind::words) refuse_twice(path, name);
    if (call.given.contains(found->name)) continue;
    const bool off = !takes_value(*found) && words == std::vector<std::string>{"false"};
    if (off && flag_of(*found) == "--" + name) continue;  // a flag that is not given
    try {
      if (off) {
        found->member.set(false);
      } else {
        assign(*found, words);
      }
    } catch (const Error& error) {
      throw Error(error.fault(), fmt::format("{}: {}", path, error.what()));
    }
    call.given.insert(found->name);
  }
}

// CLI11's own message for an option that is given twice speaks of its arguments.
void assign_once(const Option& option, const std::vector<std::string>& words) {
  if (words.size() > 1 && option.member.kind != run::Member::Kind::words) {
    const std::string flag = flag_of(option);
    throw Error(Fault::usage, fmt::format("{} {} {} {}: give it once", flag, words[0], flag, words[1]));
  }
  if (words.size() == 1 && words[0].empty()) {
    throw Error(Fault::usage, fmt::format("{}: expected a value, found an empty word", flag_of(option)));
  }
  assign(option, words);
}

void add_option(CLI::App& app, const Option& option, const Config& config) {
  const std::string name = option.flags.empty() ? flag_of(option) : option.flags;
  std::string help = wrap("", help_of(option), kTextWidth - kHelpColumn);
  help.pop_back();
  CLI::Option* const made =
      takes_value(option)
          ? app.add_option(
                name, [option](const CLI::results_t& words) { return assign_once(option, words), true; }, help)
          : app.add_flag_callback(
                name, [option] { assign(option, {}); }, help);
  made->type_name(values_of(option));
  if (!option.group.empty()) made->group(option.group);
  if (option.member.kind == run::Member::Kind::words) {
    made->expected(1, -1)->allow_extra_args();
  } else if (takes_value(option)) {
    made->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // for assign_once() to refuse
  }
  if (option.is(run::kRequired) && !is_in(config, option)) made->required();
}

// "fit iris" as "  lipschitzlr fit iris"
std::string footer_of(const Command& command) {
  std::string text = command.details;
  if (command.examples.empty()) return text;
  if (!text.empty()) text += '\n';
  std::istringstream lines(command.examples);
  std::string examples;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) examples += "\n  lipschitzlr " + line;
  return text + (count == 1 ? "Example:" : "Examples:") + examples;
}

void describe(CLI::App& app, const Command& command, const Config& config) {
  app.get_formatter()->column_width(kHelpColumn);
  for (const Option& option : command.options) add_option(app, option, config);
  if (command.takes_config) {
    app.add_option(
           kConfig, [](const CLI::results_t&) { return true; },
           "options as NAME = VALUE lines (TOML); the command line wins")
        ->type_name("FILE");
  }
  app.footer(footer_of(command));
  for (const Command& child : command.commands) {
    CLI::App* const made = app.add_subcommand(child.name, child.summary);
    describe(*made, child, config);
    if (child.hidden) made->group("");
  }
  if (!command.run) app.require_subcommand(1);
}

// CLI11 speaks of its own classes and gives unexpected words from the back: what it found is said in our words.
std::string reason_of(const CLI::ParseError& error, const Command& command,
                      const std::vector<std::string>& unexpected) {
  const std::string text = error.what(), subject = text.substr(0, text.find_first_of(": "));
  if (!command.run) {
    std::vector<std::string> names;
    for (const Command& child : command.commands) {
      if (!child.hidden) names.push_back(child.name);
    }
    if (!unexpected.empty() && !unexpected[0].starts_with('-')) {
      return fmt::format("there is no command {}{}", unexpected[0], did_you_mean(unexpected[0], names));
    }
    if (unexpected.empty()) return fmt::format("expected one of the commands {}", fmt::join(names, ", "));
  }
  const auto flag =
      std::find_if(unexpected.begin(), unexpected.end(), [](const std::string& word) { return word.starts_with('-'); });
  if (flag != unexpected.end()) {
    std::vector<std::string> names;
    for (const Option& option : command.options) {
      if (!is_positional(option)) names.push_back(flag_of(option));
    }
    const std::string name = flag->substr(0, flag->find('='));
    return fmt::format("there is no option {}{}", name, did_you_mean(name, names));
  }
  if (!unexpected.empty()) return fmt::format("not expected: {}", shell_words(unexpected));
  if (text.find("At Most") != std::string::npos) return subject + ": give it once";
  if (text.find("required but received") != std::string::npos || text.ends_with(" missing")) {
    return subject + " needs a value";
  }
  if (text.find("flag override") != std::string::npos) return subject + " takes no value";
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return text.substr(text.find("--"), text.find(" =") - text.find("--")) + " takes no value";
  }
  return text;
}

// One line: what is wrong, and where help is.
int complain(const CLI::App& root, const Command& program, const CLI::ParseError& error) {
  std::string path;
  const Command* command = &program;
  for (const CLI::App* at = &root; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += at->get_name() + " ";
    command = find(command->commands, at->get_name());
  }
  const std::string reason = reason_of(error, *command, root.remaining(true));
  print_stderr("lipschitzlr: {}{} `lipschitzlr {}--help` lists the {}\n", printable(reason),
               reason.ends_with('?') ? "" : ";", path, command->run ? "options" : "commands");
  return static_cast<int>(Fault::usage);
}

}  // namespace

int run_command(const Command& program, const std::vector<std::string>& words) {
  const std::string path = config_path(program, words);
  const Config config = path.empty() ? Config() : read_config(path, words[0]);
  CLI::App root(program.summary, program.name);
  describe(root, program, config);
  root.set_version_flag("--version", program.name + " " LIPSCHITZLR_VERSION);
  if (words.empty()) {
    fmt::print("{}", root.help());
    return 0;
  }
  try {
    root.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::Success& help) {
    return root.exit(help);
  } catch (const CLI::ParseError& error) {
    return complain(root, program, error);
  }
  const Command* command = &program;
  const CLI::App* app = &root;
  Call call{words, {}};
  while (true) {
    call.given.clear();
    for (const Option& option : command->options) {
      if (app->get_option(flag_of(option))->count() > 0) call.given.insert(option.name);
    }
    if (app->get_subcommands().empty()) break;
    app = app->get_subcommands().front();
    if (!call.given.empty()) {
      const std::string flag = flag_of(find_option(command->options, *call.given.begin()));
      throw Error(Fault::usage, fmt::format("{} goes after {}", flag, app->get_name()));
    }
    command = find(command->commands, app->get_name());
  }
  apply(config, path, *command, call);
  for (const std::string& name : call.given) {
    if (!call.given.contains("no_" + name)) continue;
    const std::string flag = flag_of(find_option(command->options, name));
    throw Error(Fault::usage, fmt::format("{} and --no{}: give one of them", flag, flag.substr(1)));
  }
  check_uses(command->options, call.given);
  return command->run(call);
}

std::string help_text(const Command& program, const std::vector<std::string>& path) {
  CLI::App root(program.summary, program.name);
  describe(root, program, {});
  const CLI::App* app = &root;
  for (const std::string& name : path) app = app->get_subcommand(name);
  return app->help();
}

int exit_code_of(const std::function<int()>& program, const std::function<int(const std::exception&)>& unexpected) {
  const auto tell = [](Fault fault, const std::string& sentence) {
    // Names of files, columns and classes may hold anything: no control character of theirs reaches a terminal.
    print_stderr("lipschitzlr: {}\n", printable(sentence));
    return static_cast<int>(fault);
  };
  try {
    const int code = program();
    if (std::fflush(stdout) != 0) throw Error(Fault::data, "can't write to standard output");
    return code;
  } catch (const Error& error) {
    return tell(error.fault(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return tell(Fault::data, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    return tell(Fault::data, "input or output failed: " + error.code().message());
  } catch (const nlohmann::json::exception&) {
    return tell(Fault::data, "a name is not UTF-8, which JSON can't hold; rename it, or leave out --json");
  } catch (const std::bad_alloc&) {
    return tell(Fault::data, "there is not enough memory for these data");
  } catch (const std::exception& error) {
    return unexpected(error);
  }
}

}  // namespace lipschitzlr::app
