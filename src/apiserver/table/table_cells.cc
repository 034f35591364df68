// SPDX-License-Identifier: Apache-2.0
#include "apiserver/table/table_cells.h"

#include <array>
#include <cctype>
#include <charconv>
#include <chrono>

namespace ks::apiserver {
namespace {

// "2026" of "2026-01-02…" and the like; -1: no number there.
int Digits(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  const char* end = text.data() + at + count;
  const auto [stop, error] = std::from_chars(text.data() + at, end, value);
  return error == std::errc() && stop == end && value >= 0 ? value : -1;
}

// The fraction from `at` on (".123456"), and where it ends.
int64_t FractionNanos(std::string_view text, size_t& at) {
  if (at >= text.size() || text[at] != '.') return 0;
  int64_t nanos = 0;
  int64_t unit = 100'000'000;
  for (++at; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
    nanos += (text[at] - '0') * unit;
    unit /= 10;
  }
  return nanos;
}

}  // namespace

const Json& At(const Json& object, std::initializer_list<const char*> path) {
  static const Json* none = new Json();
  const Json* current = &object;
  for (const char* key : path) {
    if (!current->is_object()) return *none;
    const auto it = current->find(key);
    if (it == current->end()) return *none;
    current = &*it;
  }
  return *current;
}

std::string TextAt(const Json& object, std::initializer_list<const char*> path,
                   std::string_view fallback) {
  const Json& found = At(object, path);
  if (!found.is_string() || found.get_ref<const std::string&>().empty()) {
    return std::string(fallback);
  }
  return found.get<std::string>();
}

int64_t NumberAt(const Json& object, std::initializer_list<const char*> path, int64_t fallback) {
  const Json& found = At(object, path);
  return found.is_number() ? found.get<int64_t>() : fallback;
}

std::optional<TimePoint> ParseTime(const Json& json) {
  if (!json.is_string()) return {};
  const std::string_view text = json.get_ref<const std::string&>();
  const std::array<int, 6> parts = {Digits(text, 0, 4),  Digits(text, 5, 2),  Digits(text, 8, 2),
                                    Digits(text, 11, 2), Digits(text, 14, 2), Digits(text, 17, 2)};
  for (const int part : parts) {
    if (part < 0) return {};
  }
  const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!day.ok()) return {};
  TimePoint time = std::chrono::sys_days(day);
  time += std::chrono::hours(parts[3]) + std::chrono::minutes(parts[4]) +
          std::chrono::seconds(parts[5]);
  size_t at = 19;
  time += Duration(FractionNanos(text, at));
  if (at + 6 == text.size() && (text[at] == '+' || text[at] == '-')) {
    const int hours = Digits(text, at + 1, 2);
    const int minutes = Digits(text, at + 4, 2);
    if (hours < 0 || minutes < 0) return {};
    const auto offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
    time += text[at] == '+' ? -offset : offset;
  }
  return time;
}

std::string HumanDuration(Duration duration) {
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const auto two = [](int64_t big, const char* big_unit, int64_t small, const char* small_unit) {
    std::string text = std::to_string(big) + big_unit;
    if (small != 0) text += std::to_string(small) + small_unit;
    return text;
  };
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  if (hours < 24L * 8) return two(hours / 24, "d", hours % 24, "h");
  if (hours < 24L * 365 * 2) return std::to_string(hours / 24) + "d";
  if (hours < 24L * 365 * 8) return two(hours / 24 / 365, "y", hours / 24 % 365, "d");
  return std::to_string(hours / 24 / 365) + "y";
}

std::string Since(const Json& time, TimePoint now) {
  const auto then = ParseTime(time);
  if (!then.has_value()) return "<unknown>";
  return HumanDuration(now - *then);
}

}  // namespace ks::apiserver
