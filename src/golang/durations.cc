// SPDX-License-Identifier: Apache-2.0
#include "golang/durations.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace ks::golang {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 63;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// In double quotes; control and non-ASCII bytes as \xNN.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || byte < 0x20) {
      quoted += fmt::format("\\x{:02x}", byte);
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Nanoseconds; 0: no such unit.
uint64_t UnitOf(std::string_view unit) {
  struct Unit {
    std::string_view name;
    uint64_t nanoseconds;
  };
  constexpr Unit kUnits[] = {
      {"ns", 1},         {"us", 1'000},        {"µs", 1'000},         {"μs", 1'000},
      {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
  for (const Unit& each : kUnits) {
    if (each.name == unit) return each.nanoseconds;
  }
  return 0;
}

// The digits at the front of `text`, which are taken off. None: beyond 2^63.
std::optional<uint64_t> TakeWhole(std::string_view& text) {
  uint64_t value = 0;
  for (; !text.empty() && IsDigit(text.front()); text.remove_prefix(1)) {
    if (value > kLimit / 10) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(text.front() - '0');
    if (value > kLimit) return std::nullopt;
  }
  return value;
}

// value / scale is the fraction; digits beyond 63 bits change nothing.
struct Fraction {
  uint64_t value = 0;
  double scale = 1;
};

Fraction TakeFraction(std::string_view& text) {
  Fraction fraction;
  bool full = false;
  for (; !text.empty() && IsDigit(text.front()); text.remove_prefix(1)) {
    if (full) continue;
    const uint64_t next = fraction.value * 10 + static_cast<uint64_t>(text.front() - '0');
    full = fraction.value > (kLimit - 1) / 10 || next > kLimit;
    if (full) continue;
    fraction.value = next;
    fraction.scale *= 10;
  }
  return fraction;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : all_(text), rest_(text) {}

  Result<Duration> Run() {
    const bool negative = rest_.starts_with('-');
    if (negative || rest_.starts_with('+')) rest_.remove_prefix(1);
    if (rest_ == "0") return Duration(0);
    if (rest_.empty()) return Invalid();
    while (!rest_.empty()) {
      if (std::optional<Error> error = TakePart()) return *std::move(error);
    }
    if (negative) {
      return Duration(sum_ == kLimit ? std::numeric_limits<int64_t>::min()
                                     : -static_cast<int64_t>(sum_));
    }
    if (sum_ >= kLimit) return Invalid();
    return Duration(static_cast<int64_t>(sum_));
  }

 private:
  Error Invalid() const { return Error{"time: invalid duration " + Quoted(all_)}; }

  // One number with its unit.
  std::optional<Error> TakePart() {
    if (rest_.front() != '.' && !IsDigit(rest_.front())) return Invalid();
    const size_t before = rest_.size();
    const std::optional<uint64_t> whole = TakeWhole(rest_);
    if (!whole) return Invalid();
    bool digits = rest_.size() != before;
    Fraction fraction;
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      const size_t point = rest_.size();
      fraction = TakeFraction(rest_);
      digits = digits || rest_.size() != point;
    }
    if (!digits) return Invalid();

    size_t length = 0;
    while (length < rest_.size() && rest_[length] != '.' && !IsDigit(rest_[length])) ++length;
    if (length == 0) return Error{"time: missing unit in duration " + Quoted(all_)};
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const uint64_t unit = UnitOf(name);
    if (unit == 0) {
      return Error{"time: unknown unit " + Quoted(name) + " in duration " + Quoted(all_)};
    }
    if (*whole > kLimit / unit) return Invalid();
    uint64_t part = *whole * unit;
    part += static_cast<uint64_t>(static_cast<double>(fraction.value) *
                                  (static_cast<double>(unit) / fraction.scale));
    if (part > kLimit) return Invalid();
    sum_ += part;
    if (sum_ > kLimit) return Invalid();
    return std::nullopt;
  }

  const std::string_view all_;
  std::string_view rest_;
  uint64_t sum_ = 0;
};

}  // namespace

Result<Duration> ParseDuration(std::string_view text) { return Parser(text).Run(); }

}  // namespace ks::golang
