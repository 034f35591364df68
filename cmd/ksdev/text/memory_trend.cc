// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/memory_trend.h"

#include <fmt/format.h>

#include <algorithm>

#include "ksdev/text/figures.h"

namespace ks::ctl::dev {

MemoryTrend TrendOf(const std::vector<double>& samples_mb) {
  if (samples_mb.empty()) return {};
  const auto third = static_cast<ptrdiff_t>(std::max<size_t>(samples_mb.size() / 3, 1));
  return {.first_mb = Median({samples_mb.begin(), samples_mb.begin() + third}),
          .last_mb = Median({samples_mb.end() - third, samples_mb.end()}),
          .most_mb = *std::max_element(samples_mb.begin(), samples_mb.end()),
          .samples = samples_mb.size()};
}

std::string MemoryTrend::Text() const {
  return fmt::format("{:.1f} MB in the first third, {:.1f} MB in the last, most {:.1f} MB, {}",
                     first_mb, last_mb, most_mb, Flat() ? "flat" : "NOT FLAT");
}

}  // namespace ks::ctl::dev
