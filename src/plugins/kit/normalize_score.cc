// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/normalize_score.h"

#include <algorithm>

#include "framework/plugin.h"

namespace ks::plugins {

void NormalizeToMaximum(std::span<int64_t> scores, bool reversed) {
  using framework::kMaxNodeScore;
  int64_t highest = 0;
  for (const int64_t score : scores) highest = std::max(highest, score);
  if (highest == 0) {
    if (reversed) std::fill(scores.begin(), scores.end(), kMaxNodeScore);
    return;
  }
  for (int64_t& score : scores) {
    const int64_t share = kMaxNodeScore * score / highest;
    score = reversed ? kMaxNodeScore - share : share;
  }
}

}  // namespace ks::plugins
