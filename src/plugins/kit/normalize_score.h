// SPDX-License-Identifier: Apache-2.0
#pragma once
// The default normalization: raw scores to 0..100 in proportion to the highest.
//
// Upstream: docs/spec/plugins-node.md 2.7.

#include <cstdint>
#include <span>

namespace ks::plugins {

// Requires: scores >= 0. `reversed`: the lowest raw score becomes 100.
void NormalizeToMaximum(std::span<int64_t> scores, bool reversed);

}  // namespace ks::plugins
