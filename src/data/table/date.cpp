#include "data/table/date.hpp"

#include <chrono>
#include <cmath>

namespace lipschitzlr::data {
namespace {

// Takes parts of a text from its front; once one is not there, ok is false.
class DateText {
 public:
  explicit DateText(std::string_view text) : rest_(text) {}

  bool ok = true;
  bool ended() const { return rest_.empty(); }
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }
  void skip(char c) {
    ok = ok && next() == c;
    if (ok) rest_.remove_prefix(1);
  }
  int digits(int count) {
    int value = 0;
    for (; count > 0 && ok; --count) {
      ok = next() >= '0' && next() <= '9';
      if (ok) value = value * 10 + (next() - '0');
      if (ok) rest_.remove_prefix(1);
    }
    return value;
  }
  // What follows a point or a comma.
  double fraction() {
    double value = 0, unit = 0.1;
    ok = ok && rest_.size() > 1;
    rest_.remove_prefix(ok ? 1 : 0);
    for (; ok && next() >= '0' && next() <= '9'; unit /= 10) {
      value += unit * (next() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view rest_;
};

// Hours, minutes and seconds, and the zone, as a share of a day.
double time_of_day(DateText& text) {
  const int hour = text.digits(2);
  text.skip(':');
  const int minute = text.digits(2);
  double second = 0;
  if (text.next() == ':') {
    text.skip(':');
    second = text.digits(2);
    if (text.next() == '.' || text.next() == ',') second += text.fraction();
  }
  text.ok = text.ok && hour < 24 && minute < 60 && second < 61;
  int zone = 0;
  if (text.next() == 'Z') {
    text.skip('Z');
  } else if (const char sign = text.next(); sign == '+' || sign == '-') {
    text.skip(sign);
    zone = 60 * text.digits(2);
    if (text.next() == ':') text.skip(':');
    zone += text.digits(2);
    if (sign == '-') zone = -zone;
  }
  return (60 * (60.0 * hour + minute - zone) + second) / 86400;
}

}  // namespace

std::optional<double> date_from(std::string_view from) {
  constexpr std::size_t kShortest = 10;
  if (from.size() < kShortest || from[4] != '-' || from[7] != '-') return std::nullopt;
  DateText text(from);
  const int year = text.digits(4);
  text.skip('-');
  const auto month = static_cast<unsigned>(text.digits(2));
  text.skip('-');
  const auto day = static_cast<unsigned>(text.digits(2));
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  double time = 0;
  if (text.ok && !text.ended()) {
    text.skip(text.next() == 'T' ? 'T' : ' ');
    time = time_of_day(text);
  }
  if (!text.ok || !text.ended() || !date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) + time;
}

MonthAndWeekday month_and_weekday(double day) {
  constexpr double kMost = 1e7;  // days, 27,000 years: a calendar ends soon after
  const std::chrono::sys_days whole{std::chrono::days(std::abs(day) <= kMost ? static_cast<int>(std::floor(day)) : 0)};
  return {static_cast<int>(static_cast<unsigned>(std::chrono::year_month_day(whole).month())),
          static_cast<int>(std::chrono::weekday(whole).iso_encoding())};
}

}  // namespace lipschitzlr::data
