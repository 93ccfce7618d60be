#include "base/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <functional>

namespace lipschitzlr {
namespace {

// What the work writes to standard error while that is a terminal of so many columns.
std::string on_terminal(unsigned short columns, const std::function<void()>& work) {
  const int screen = posix_openpt(O_RDWR | O_NOCTTY);
  grantpt(screen);
  unlockpt(screen);
  const int terminal = open(ptsname(screen), O_RDWR | O_NOCTTY);
  termios raw{};
  tcgetattr(terminal, &raw);
  cfmakeraw(&raw);
  tcsetattr(terminal, TCSANOW, &raw);
  winsize size{};
  size.ws_col = columns;
  ioctl(terminal, TIOCSWINSZ, &size);
  const int before = dup(STDERR_FILENO);
  dup2(terminal, STDERR_FILENO);
  work();
  dup2(before, STDERR_FILENO);
  close(before);
  // With the terminal closed, reading ends after its last byte; one read may return only a part of it.
  close(terminal);
  std::string text;
  char bytes[4096];
  for (ssize_t got = 0; (got = read(screen, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(got));
  close(screen);
  return text;
}

TEST(Terminal, BarsFillUp) {
  EXPECT_EQ(progress_bar(0, 4), "[    ]");
  EXPECT_EQ(progress_bar(0.5, 4), "[==  ]");
  EXPECT_EQ(progress_bar(7, 4), "[====]");
}

TEST(Terminal, ALineIsDrawnOverItselfAndTakenAway) {
  const std::string text = on_terminal(80, [] {
    LiveLines lines;
    lines.draw({"one"});
    lines.draw({"two"});
  });
  EXPECT_EQ(text, "one\r\033[Ktwo\r\033[K");
}

TEST(Terminal, SeveralLinesAreDrawnOverThemselves) {
  const std::string text = on_terminal(80, [] {
    LiveLines lines;
    lines.draw({"a", "b", "c"});
    lines.draw({"d"});
    lines.clear();
    lines.clear();
  });
  EXPECT_EQ(text, "a\nb\nc\r\033[2A\033[Jd\r\033[K");
}

TEST(Terminal, ALineLongerThanTheTerminalIsCut) {
  const std::string text = on_terminal(11, [] {
    EXPECT_EQ(terminal_width(), 10u);
    LiveLines lines;
    lines.draw({"0123456789abc"});
  });
  EXPECT_EQ(text, "0123456789\r\033[K");
}

TEST(Terminal, NothingIsDrawnIntoAFile) {
  EXPECT_EQ(on_terminal(80,
                        [] {
                          LiveLines lines(false);
                          EXPECT_FALSE(lines.due());
                          lines.draw({"one"});
                        }),
            "");
}

TEST(Terminal, DrawsAFewTimesASecond) {
  LiveLines lines(true);
  EXPECT_TRUE(lines.due());
  int drawn = 0;
  for (int asked = 0; asked < 1000; ++asked) drawn += lines.due();
  EXPECT_LT(drawn, 500);  // of microseconds; a busy machine may add a pause or two
}

}  // namespace
}  // namespace lipschitzlr
