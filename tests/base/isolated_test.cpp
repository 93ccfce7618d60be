#include "base/isolated.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

TEST(Isolated, GivesBackWhatTheWorkReturnedByteForByte) {
  std::string bytes(300000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  EXPECT_EQ(isolated([&] { return bytes; }, "lost"), bytes);
  EXPECT_EQ(isolated([] { return std::string(); }, "lost"), "");
}

TEST(Isolated, ChangesNothingHere) {
  int count = 0;
  EXPECT_EQ(isolated([&] { return std::to_string(++count); }, "lost"), "1");
  EXPECT_EQ(count, 0);
}

TEST(Isolated, ThrowsWhatTheWorkThrew) {
  try {
    isolated([]() -> std::string { throw Error(Fault::usage, "not so"); }, "lost");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_STREQ(error.what(), "not so");
  }
}

TEST(Isolated, SurvivesWhatTheWorkDiesOf) {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGKILL}) {
    try {
      isolated([&] { return raise(number), std::string("here"); }, "lost");
      FAIL() << number;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_STREQ(error.what(), "lost") << number;
    }
  }
}

}  // namespace
}  // namespace lipschitzlr
