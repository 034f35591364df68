// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is a process's memory flat over a long run?

#include <cstddef>
#include <string>
#include <vector>

namespace ks::ctl::dev {

// Medians of the first and the last third of samples taken at equal intervals, in MB.
struct MemoryTrend {
  double first_mb = 0;
  double last_mb = 0;
  double most_mb = 0;
  size_t samples = 0;

  // The last third is at most a tenth and 10 MB above the first: room for caches and fragmentation,
  // not for a leak that matters within days.
  bool Flat() const { return last_mb <= first_mb * 1.1 + 10; }
  std::string Text() const;
};

MemoryTrend TrendOf(const std::vector<double>& samples_mb);

}  // namespace ks::ctl::dev
