// SPDX-License-Identifier: Apache-2.0
#include "config/text/nearest_name.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace ks::config {
namespace {

constexpr size_t kLongestName = 100;  // the distance is quadratic

// Insertions, deletions and replacements from `a` to `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > kLongestName) {
    return "";
  }
  const std::string wanted = LowerCase(name);
  std::string_view nearest;
  size_t least = name.size() / 3 + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(wanted, LowerCase(candidate));
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return std::string(nearest);
}

}  // namespace ks::config
