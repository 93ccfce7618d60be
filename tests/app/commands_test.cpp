// Every option that a command declares is in its --help, with its own sentence; so are all commands.

#include "app/commands.hpp"

#include <gtest/gtest.h>

#include "app/command_line.hpp"

namespace lipschitzlr::app {
namespace {

// --help breaks lines: compared are the words.
std::string words_only(const std::string& text) {
  std::string words;
  for (const char letter : text) {
    if (letter != ' ' && letter != '\n') words += letter;
  }
  return words;
}

void walk(const Command& program, const Command& command, const std::vector<std::string>& path, int& count) {
  const std::string help = words_only(help_text(program, path));
  EXPECT_FALSE(command.summary.empty()) << command.name;
  EXPECT_FALSE(command.examples.empty()) << command.name;
  EXPECT_TRUE(command.run || !command.commands.empty()) << command.name;
  for (const run::Option& option : command.options) {
    ++count;
    EXPECT_FALSE(option.help.empty()) << command.name << " " << option.name;
    EXPECT_NE(help.find(words_only(flag_of(option) + values_of(option))), std::string::npos) << flag_of(option);
    EXPECT_NE(help.find(words_only(help_of(option))), std::string::npos) << flag_of(option);
  }
  for (const Command& child : command.commands) {
    EXPECT_NE(help.find(words_only(child.name + child.summary)), std::string::npos) << child.name;
    std::vector<std::string> below = path;
    below.push_back(child.name);
    walk(program, child, below, count);
  }
}

TEST(Commands, EveryOptionIsInTheHelpOfItsCommand) {
  const Command program = front_program();
  int count = 0;
  walk(program, program, {}, count);
  EXPECT_GT(count, 150);
}

}  // namespace
}  // namespace lipschitzlr::app
