// SPDX-License-Identifier: Apache-2.0
#include "cel/time_value.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>

#include "golang/durations.h"

namespace ks::cel {
namespace {

constexpr Text kDurationOverflow = Literal("integer overflow");
constexpr Text kTimestampOverflow = Literal("timestamp overflow");
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFirstSecond = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253'402'300'799;   // 9999-12-31T23:59:59Z

// Takes numbers and marks off the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool Take(char mark) {
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A number of `least` to `most` digits. -1: there is none.
  int64_t Number(size_t least, size_t most) {
    size_t digits = 0;
    int64_t number = 0;
    while (digits < most && digits < rest_.size() && IsDigit(rest_[digits])) {
      number = number * 10 + (rest_[digits++] - '0');
    }
    rest_.remove_prefix(digits);
    return digits < least ? -1 : number;
  }

  // ".123": digits behind the ninth are dropped. -1: a point without digits.
  int64_t Fraction() {
    if (!rest_.starts_with('.') && !rest_.starts_with(',')) return 0;
    size_t digits = 0;
    int64_t nanos = 0;
    for (rest_.remove_prefix(1); !rest_.empty() && IsDigit(rest_[0]); rest_.remove_prefix(1)) {
      if (digits++ < 9) nanos = nanos * 10 + (rest_[0] - '0');
    }
    if (digits == 0) return -1;
    for (; digits < 9; ++digits) nanos *= 10;
    return nanos;
  }

  bool at_end() const { return rest_.empty(); }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  std::string_view rest_;
};

// "Z", "+01:00" in minutes.
std::optional<int16_t> ReadOffset(Reader& reader) {
  if (reader.Take('Z')) return 0;
  const bool west = reader.Take('-');
  if (!west && !reader.Take('+')) return std::nullopt;
  const int64_t hours = reader.Number(2, 2);
  if (!reader.Take(':')) return std::nullopt;
  const int64_t minutes = reader.Number(2, 2);
  if (hours < 0 || hours > 24 || minutes < 0 || minutes > 60) return std::nullopt;
  const int64_t offset = hours * 60 + minutes;
  return static_cast<int16_t>(west ? -offset : offset);
}

Value AddNanoseconds(const Value& timestamp, __int128 nanoseconds) {
  const __int128 sum =
      static_cast<__int128>(timestamp.integer) * kSecond + timestamp.nanos + nanoseconds;
  __int128 seconds = sum / kSecond;
  __int128 nanos = sum % kSecond;
  if (nanos < 0) {
    nanos += kSecond;
    --seconds;
  }
  return MakeTimestamp(static_cast<int64_t>(seconds), static_cast<uint32_t>(nanos),
                       timestamp.offset);
}

}  // namespace

Value MakeTimestamp(int64_t seconds, uint32_t nanos, int16_t offset) {
  if (seconds < kFirstSecond || seconds > kLastSecond) return Value::Error(&kTimestampOverflow);
  return Value::Timestamp(seconds, nanos, offset);
}

std::optional<Value> ReadTimestamp(std::string_view text) {
  using std::chrono::day;
  using std::chrono::month;
  using std::chrono::year;
  Reader reader(text);
  const int64_t years = reader.Number(4, 4);
  bool well_formed = reader.Take('-');
  const int64_t months = reader.Number(2, 2);
  well_formed = reader.Take('-') && well_formed;
  const int64_t days = reader.Number(2, 2);
  well_formed = reader.Take('T') && well_formed;
  const int64_t hours = reader.Number(1, 2);
  well_formed = reader.Take(':') && well_formed;
  const int64_t minutes = reader.Number(2, 2);
  well_formed = reader.Take(':') && well_formed;
  const int64_t seconds = reader.Number(2, 2);
  const int64_t nanos = reader.Fraction();
  const std::optional<int16_t> offset = ReadOffset(reader);
  if (!well_formed || !offset || !reader.at_end() || years < 0 || months < 1 || days < 1 ||
      hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 ||
      nanos < 0) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(year(static_cast<int>(years)),
                                         month(static_cast<unsigned>(months)),
                                         day(static_cast<unsigned>(days)));
  if (!date.ok()) return std::nullopt;
  const int64_t since = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t second = since * 86400 + hours * 3600 + minutes * 60 + seconds - *offset * 60;
  return MakeTimestamp(second, static_cast<uint32_t>(nanos), *offset);
}

std::optional<Value> ReadDuration(std::string_view text) {
  const Result<Duration> duration = golang::ParseDuration(text);
  if (!duration.ok()) return std::nullopt;
  return Value::Duration(duration->count());
}

namespace {

// Date and time in the timestamp's own offset; `between` parts them.
std::string LocalText(const Value& timestamp, char between) {
  const int64_t local = timestamp.integer + int64_t{timestamp.offset} * 60;
  const std::chrono::sys_seconds time{std::chrono::seconds(local)};
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(midnight);
  const int64_t second = (time - midnight).count();
  std::string text =
      fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), between,
                  second / 3600, second / 60 % 60, second % 60);
  if (timestamp.nanos != 0) {
    text += fmt::format(".{:09}", timestamp.nanos);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

// "+01:00" with ":" between hours and minutes.
std::string OffsetText(const Value& timestamp, std::string_view between) {
  const int minutes = timestamp.offset < 0 ? -timestamp.offset : timestamp.offset;
  return fmt::format("{}{:02}{}{:02}", timestamp.offset < 0 ? '-' : '+', minutes / 60, between,
                     minutes % 60);
}

}  // namespace

std::string TimestampText(const Value& timestamp) {
  return LocalText(timestamp, 'T') + (timestamp.offset == 0 ? "Z" : OffsetText(timestamp, ":"));
}

std::string LongTimestampText(const Value& timestamp) {
  const std::string offset = OffsetText(timestamp, "");
  return fmt::format("{} {} {}", LocalText(timestamp, ' '), offset,
                     timestamp.offset == 0 ? "UTC" : offset);
}

std::string DurationText(const Value& duration) {
  char buffer[64];
  const int64_t whole = duration.integer / kSecond;
  const int64_t nanos = duration.integer % kSecond;
  const double seconds = static_cast<double>(whole) + static_cast<double>(nanos) / 1e9;
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, seconds, std::chars_format::fixed).ptr;
  return std::string(buffer, end) + "s";
}

Value AddDurations(Context& /*context*/, Arguments args) {
  int64_t sum = 0;
  if (__builtin_add_overflow(args[0].integer, args[1].integer, &sum)) {
    return Value::Error(&kDurationOverflow);
  }
  return Value::Duration(sum);
}

Value SubtractDurations(Context& /*context*/, Arguments args) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(args[0].integer, args[1].integer, &difference)) {
    return Value::Error(&kDurationOverflow);
  }
  return Value::Duration(difference);
}

Value AddToTimestamp(Context& /*context*/, Arguments args) {
  return AddNanoseconds(args[0], args[1].integer);
}

Value SubtractFromTimestamp(Context& /*context*/, Arguments args) {
  return AddNanoseconds(args[0], -static_cast<__int128>(args[1].integer));
}

Value SubtractTimestamps(Context& /*context*/, Arguments args) {
  const __int128 difference = static_cast<__int128>(args[0].integer - args[1].integer) * kSecond +
                              (static_cast<__int128>(args[0].nanos) - args[1].nanos);
  if (difference > std::numeric_limits<int64_t>::max() ||
      difference < std::numeric_limits<int64_t>::min()) {
    return Value::Error(&kDurationOverflow);
  }
  return Value::Duration(static_cast<int64_t>(difference));
}

}  // namespace ks::cel
