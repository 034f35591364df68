// SPDX-License-Identifier: Apache-2.0
#pragma once
// Durations as Go reads them, and as metrics count them. Printing is FormatDuration in
// base/clock.h.
//
// Upstream: docs/spec/config.md section 2.7.

#include <chrono>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace ks::golang {

// "1h30m", "-1.5s", "0". Errors: upstream's, such as `time: missing unit in duration "90"`.
Result<Duration> ParseDuration(std::string_view text);

constexpr double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace ks::golang
