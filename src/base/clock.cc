// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>

#include <ctime>

namespace ks {
namespace {

class ProcessClock final : public Clock {
 public:
  ProcessClock()
      : wall_start_(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())),
        steady_start_(std::chrono::steady_clock::now()) {}

  TimePoint Now() const override {
    return wall_start_ +
           std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - steady_start_);
  }
  TimePoint WallNow() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }

 private:
  const TimePoint wall_start_;
  const std::chrono::steady_clock::time_point steady_start_;
};

// "1.5" for 1500 and 1000: the quotient with its fraction, without trailing zeros.
std::string Fraction(int64_t value, int64_t unit) {
  std::string text = std::to_string(value / unit);
  int64_t rest = value % unit;
  if (rest == 0) return text;
  text += '.';
  while (rest != 0) {
    unit /= 10;
    text += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return text;
}

std::string FormatSeconds(TimePoint time, int64_t micros) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t unix_seconds = seconds.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&unix_seconds, &parts);
  std::string text =
      fmt::format("{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}", parts.tm_year + 1900,
                  parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  if (micros >= 0) text += fmt::format(".{:06d}", micros);
  return text + "Z";
}

}  // namespace

const Clock& RealClock() {
  static const ProcessClock clock;
  return clock;
}

std::string FormatDuration(Duration duration) {
  constexpr int64_t kMicro = 1'000, kMilli = 1'000'000, kSecond = 1'000'000'000;
  const int64_t n = duration.count();
  if (n == 0) return "0s";
  // The one value without a positive counterpart.
  if (duration == Duration::min()) return "-2562047h47m16.854775808s";
  if (n < 0) return "-" + FormatDuration(Duration(-n));
  if (n < kMicro) return fmt::format("{}ns", n);
  if (n < kMilli) return Fraction(n, kMicro) + "µs";
  if (n < kSecond) return Fraction(n, kMilli) + "ms";
  const int64_t minutes = n / (60 * kSecond);
  std::string text;
  if (minutes >= 60) text += fmt::format("{}h", minutes / 60);
  if (minutes > 0) text += fmt::format("{}m", minutes % 60);
  return text + Fraction(n % (60 * kSecond), kSecond) + "s";
}

std::string FormatTime(TimePoint time) { return FormatSeconds(time, -1); }

std::string FormatMicroTime(TimePoint time) {
  const auto rest = time - std::chrono::floor<std::chrono::seconds>(time);
  return FormatSeconds(time, rest.count() / 1000);
}

}  // namespace ks
