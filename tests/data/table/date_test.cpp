#include "data/table/date.hpp"

#include <gtest/gtest.h>

namespace lipschitzlr::data {
namespace {

TEST(Date, CountsDaysFrom1970) {
  // By Python's datetime.date.toordinal.
  EXPECT_EQ(date_from("1970-01-01"), 0);
  EXPECT_EQ(date_from("1969-12-31"), -1);
  EXPECT_EQ(date_from("2000-03-01"), 11017);
  EXPECT_EQ(date_from("2024-02-29"), 19782);
  EXPECT_EQ(date_from("0001-01-01"), -719162);
  EXPECT_EQ(date_from("9999-12-31"), 2932896);
}

TEST(Date, ATimeIsAFractionOfTheDayInUtc) {
  EXPECT_EQ(date_from("1970-01-02T12:00"), 1.5);
  EXPECT_EQ(date_from("1970-01-02 06:00:00"), 1.25);
  EXPECT_EQ(date_from("1970-01-02T06:00:00Z"), 1.25);
  EXPECT_EQ(date_from("1970-01-02T06:00+06:00"), 1);
  EXPECT_EQ(date_from("1970-01-01T18:00:00-0600"), 1);
  EXPECT_NEAR(*date_from("1970-01-01T00:00:00.500"), 0.5 / 86400, 1e-15);
}

TEST(Date, WhatNoCalendarHasIsNone) {
  for (const char* text :
       {"", "2024", "2024-1-1", "2024-13-01", "2024-02-30", "2023-02-29", "2024-00-10", "2024-01-00", "24-01-01",
        "2024/01/01", "2024-01-01x", "2024-01-01T", "2024-01-01T24:00", "2024-01-01T12", "2024-01-01T12:60",
        "2024-01-01T12:00:00.", "2024-01-01T12:00+1", "20240101", "01-01-2024"}) {
    EXPECT_EQ(date_from(text), std::nullopt) << text;
  }
}

TEST(Date, KnowsMonthAndWeekday) {
  const MonthAndWeekday leap = month_and_weekday(*date_from("2024-02-29T23:59"));
  EXPECT_EQ(leap.month, 2);
  EXPECT_EQ(leap.weekday, 4);  // a Thursday
  const MonthAndWeekday before = month_and_weekday(-0.5);
  EXPECT_EQ(before.month, 12);
  EXPECT_EQ(before.weekday, 3);
}

}  // namespace
}  // namespace lipschitzlr::data
