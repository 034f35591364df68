// SPDX-License-Identifier: Apache-2.0
#include "api/time_text.h"

#include <algorithm>

namespace ks::api {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Consumes a text from its front; after the first mismatch it stays failed.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return text_.empty(); }
  char Peek() const { return text_.empty() ? '\0' : text_.front(); }

  void Expect(char c) {
    if (Peek() != c || text_.empty()) {
      ok_ = false;
      return;
    }
    text_.remove_prefix(1);
  }
  // Exactly `digits` digits with a value in [low, high].
  int Number(size_t digits, int low, int high) {
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (!IsDigit(Peek())) {
        ok_ = false;
        return low;
      }
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    if (value < low || value > high) ok_ = false;
    return value;
  }
  // One or more digits after the point, as nanoseconds; `digits` is set to how many there were.
  int64_t Fraction(size_t& digits) {
    int64_t nanos = 0;
    for (digits = 0; IsDigit(Peek()); ++digits) {
      if (digits < 9) nanos = nanos * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    if (digits == 0) ok_ = false;
    for (size_t i = digits; i < 9; ++i) nanos *= 10;
    return nanos;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

constexpr std::chrono::sys_seconds kFirst =
    std::chrono::sys_days(std::chrono::year(1678) / std::chrono::January / 1);
constexpr std::chrono::sys_seconds kBehindLast =
    std::chrono::sys_days(std::chrono::year(2262) / std::chrono::January / 1);

}  // namespace

TimePoint TimeSinceEpoch(std::chrono::seconds seconds, std::chrono::nanoseconds fraction) {
  const std::chrono::sys_seconds time(seconds);
  if (time < kFirst) return TimePoint::min();
  if (time >= kBehindLast) return TimePoint::max();
  return TimePoint(time) + fraction;
}

std::optional<TimePoint> ParseTime(std::string_view text, TimePrecision precision) {
  namespace chrono = std::chrono;
  Scanner scan(text);
  const int year = scan.Number(4, 0, 9999);
  scan.Expect('-');
  const int month = scan.Number(2, 1, 12);
  scan.Expect('-');
  const int day = scan.Number(2, 1, 31);
  scan.Expect('T');
  const int hour = scan.Number(2, 0, 23);
  scan.Expect(':');
  const int minute = scan.Number(2, 0, 59);
  scan.Expect(':');
  const int second = scan.Number(2, 0, 59);
  int64_t nanos = 0;
  size_t fraction_digits = 0;
  if (scan.Peek() == '.') {
    scan.Expect('.');
    nanos = scan.Fraction(fraction_digits);
  }
  int offset_minutes = 0;
  if (scan.Peek() == '+' || scan.Peek() == '-') {
    const int sign = scan.Peek() == '-' ? -1 : 1;
    scan.Expect(scan.Peek());
    const int offset_hours = scan.Number(2, 0, 24);  // upstream takes 24 and 60, too
    scan.Expect(':');
    offset_minutes = sign * (offset_hours * 60 + scan.Number(2, 0, 60));
  } else {
    scan.Expect('Z');
  }
  const chrono::year_month_day date{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day))};
  if (!scan.ok() || !scan.AtEnd() || !date.ok()) return std::nullopt;
  if (precision == TimePrecision::kMicros && fraction_digits != 6) return std::nullopt;
  const auto seconds = chrono::sys_seconds(chrono::sys_days(date)) + chrono::hours(hour) +
                       chrono::minutes(minute - offset_minutes) + chrono::seconds(second);
  return TimeSinceEpoch(seconds.time_since_epoch(), chrono::nanoseconds(nanos));
}

}  // namespace ks::api
