// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/throughput.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace ks::ctl::dev::perf {

std::vector<double> ThroughputWindows(const std::vector<SteadyTime>& bound, SteadyTime begin,
                                      SteadyTime end) {
  constexpr std::chrono::seconds kTick{1};
  std::vector<double> windows;
  bool open = false;
  size_t counted = 0;  // pods before the present window
  size_t seconds = 0;  // of the present window
  auto next = bound.begin();
  for (SteadyTime tick = begin + kTick; tick <= end; tick += kTick) {
    while (next != bound.end() && *next <= tick) ++next;
    const auto now = static_cast<size_t>(next - bound.begin());
    if (now == 0) continue;
    if (!open) {
      open = true;
      counted = now;
      continue;
    }
    ++seconds;
    if (now == counted) continue;
    const double rate = static_cast<double>(now - counted) / static_cast<double>(seconds);
    windows.insert(windows.end(), seconds, rate);
    counted = now;
    seconds = 0;
  }
  return windows;
}

Throughput Summarize(std::vector<double> windows) {
  if (windows.empty()) return {};
  std::sort(windows.begin(), windows.end());
  const auto at = [&windows](size_t percent) {
    return windows[(windows.size() * percent + 99) / 100 - 1];
  };
  const double sum = std::accumulate(windows.begin(), windows.end(), 0.0);
  return {.measured = true,
          .average = sum / static_cast<double>(windows.size()),
          .p50 = at(50),
          .p90 = at(90),
          .p99 = at(99)};
}

}  // namespace ks::ctl::dev::perf
