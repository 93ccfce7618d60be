#pragma once
// Dates in the form of ISO 8601: 2024-02-29, with a time 2024-02-29T13:05, 2024-02-29 13:05:07.25, and with a zone,
// Z or +02:00.

#include <optional>
#include <string_view>

namespace lipschitzlr::data {

// Days since 1970-01-01, the time of day (in UTC where there is a zone) as a fraction; nothing for another text and
// for a day that no calendar has.
std::optional<double> date_from(std::string_view text);

struct MonthAndWeekday {
  int month;    // 1 to 12
  int weekday;  // 1, Monday, to 7
};
MonthAndWeekday month_and_weekday(double day);

}  // namespace lipschitzlr::data
