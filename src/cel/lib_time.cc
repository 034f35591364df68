// SPDX-License-Identifier: Apache-2.0
// The parts of timestamps in a time zone, and the totals of durations.
#include <absl/strings/string_view.h>
#include <absl/time/time.h>

#include <charconv>
#include <chrono>
#include <string>

#include "cel/library.h"
#include "golang/quote.h"

namespace ks::cel {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

// Digits with a sign or without.
Result<int64_t> ReadNumber(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, code] = std::from_chars(digits.data(), end, number);
  if (code == std::errc() && at == end && !(text.starts_with("+-"))) return number;
  return Error{.message = "strconv.Atoi: parsing " + golang::Quote(text) + ": " +
                          (code == std::errc::result_out_of_range ? "value out of range"
                                                                  : "invalid syntax")};
}

// "+01:00", "-8:30" in seconds. Requires: a colon.
Result<int64_t> ReadZoneOffset(std::string_view zone) {
  const size_t colon = zone.find(':');
  Result<int64_t> hours = ReadNumber(zone.substr(0, colon));
  if (!hours.ok()) return hours;
  Result<int64_t> minutes = ReadNumber(zone.substr(colon + 1));
  if (!minutes.ok()) return minutes;
  const bool west = zone.starts_with('-');
  return *hours * 3600 + (west ? -*minutes : *minutes) * 60;
}

// Seconds east of Greenwich at that second.
Result<int64_t> OffsetAt(std::string_view zone, int64_t second) {
  if (zone.find(':') != std::string_view::npos) return ReadZoneOffset(zone);
  if (zone.empty() || zone == "UTC" || zone == "Local") return 0;
  // Names that would leave the directory of zones.
  if (zone.starts_with('/') || zone.starts_with('\\') || zone.find("..") != zone.npos) {
    return Error{.message = "time: invalid location name"};
  }
  // Names that only the library at hand knows.
  const bool foreign = zone.starts_with("Fixed/") || zone == "localtime";
  absl::TimeZone found;
  if (foreign || !absl::LoadTimeZone(absl::string_view(zone.data(), zone.size()), &found)) {
    return Error{.message = "unknown time zone " + std::string(zone)};
  }
  return found.At(absl::FromUnixSeconds(second)).offset;
}

enum class Part : uint8_t {
  kYear,
  kMonth,
  kDayOfYear,
  kDayOfMonth,
  kDate,
  kDayOfWeek,
  kHours,
  kMinutes,
  kSeconds,
  kMilliseconds,
};

int64_t PartOf(Part part, sys_seconds local, uint32_t nanos) {
  const sys_days midnight = std::chrono::floor<days>(local);
  const std::chrono::year_month_day date(midnight);
  const int64_t second = (local - midnight).count();
  switch (part) {
    case Part::kYear:
      return static_cast<int>(date.year());
    case Part::kMonth:
      return int64_t{static_cast<unsigned>(date.month())} - 1;
    case Part::kDayOfYear:
      return (midnight - sys_days(date.year() / std::chrono::January / 1)).count();
    case Part::kDayOfMonth:
      return int64_t{static_cast<unsigned>(date.day())} - 1;
    case Part::kDate:
      return int64_t{static_cast<unsigned>(date.day())};
    case Part::kDayOfWeek:
      return int64_t{std::chrono::weekday(midnight).c_encoding()};
    case Part::kHours:
      return second / 3600;
    case Part::kMinutes:
      return second / 60 % 60;
    case Part::kSeconds:
      return second % 60;
    case Part::kMilliseconds:
      return nanos / 1'000'000;
  }
  return 0;
}

// The whole units in a duration, counted in floating point as upstream does: what is less than the
// next unit by too little for a double is that unit. 36,000,000 s less 1 ns: 36,000,000.
int64_t WholeUnits(int64_t nanoseconds, int64_t unit) {
  const int64_t whole = nanoseconds / unit;
  const auto rest = static_cast<double>(nanoseconds % unit);
  return static_cast<int64_t>(static_cast<double>(whole) + rest / static_cast<double>(unit));
}

int64_t TotalOf(Part part, int64_t nanoseconds) {
  switch (part) {
    case Part::kHours:
      return WholeUnits(nanoseconds, 3'600'000'000'000);
    case Part::kMinutes:
      return WholeUnits(nanoseconds, 60'000'000'000);
    case Part::kSeconds:
      return WholeUnits(nanoseconds, 1'000'000'000);
    default:
      return nanoseconds / 1'000'000;
  }
}

template <Part kPart>
Value Get(Context& context, Arguments args) {
  const Value& time = args[0];
  if (time.is(Kind::kDuration)) return Value::Int(TotalOf(kPart, time.integer));
  Result<int64_t> offset = 0;
  if (args.size() > 1) offset = OffsetAt(args[1].view(), time.integer);
  if (!offset.ok()) return MakeError(context.arena(), offset.error().message);
  const sys_seconds local{std::chrono::seconds(time.integer + *offset)};
  return Value::Int(PartOf(kPart, local, time.nanos));
}

constexpr Binding kTimeTable[] = {
    {OverloadId::kGetFullYear, Get<Part::kYear>},
    {OverloadId::kGetMonth, Get<Part::kMonth>},
    {OverloadId::kGetDayOfYear, Get<Part::kDayOfYear>},
    {OverloadId::kGetDayOfMonth, Get<Part::kDayOfMonth>},
    {OverloadId::kGetDate, Get<Part::kDate>},
    {OverloadId::kGetDayOfWeek, Get<Part::kDayOfWeek>},
    {OverloadId::kGetHours, Get<Part::kHours>},
    {OverloadId::kGetMinutes, Get<Part::kMinutes>},
    {OverloadId::kGetSeconds, Get<Part::kSeconds>},
    {OverloadId::kGetMilliseconds, Get<Part::kMilliseconds>},
};

}  // namespace

std::span<const Binding> TimeBindings() { return kTimeTable; }

}  // namespace ks::cel
