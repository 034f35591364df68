// SPDX-License-Identifier: Apache-2.0
#pragma once
// 64-bit arithmetic as the parity target does it (amd64) where C++ leaves the result undefined:
// nothing guards quantities that are too large, so sums and products of them wrap.
//
// Upstream: docs/spec/plugins-node.md section 1 and 2.1.

#include <cstdint>
#include <limits>

namespace ks::golang {

constexpr int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrappingSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t WrappingMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// Truncates toward zero. Requires: b != 0.
constexpr int64_t WrappingDiv(int64_t a, int64_t b) { return b == -1 ? WrappingSub(0, a) : a / b; }

// Truncates toward zero; the lowest value for what does not fit.
constexpr int64_t Truncated(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (value >= -kLimit && value < kLimit) return static_cast<int64_t>(value);
  return std::numeric_limits<int64_t>::min();
}

}  // namespace ks::golang
