// SPDX-License-Identifier: Apache-2.0
#pragma once
// What plugins ask about the trees of pod groups: who is below whom, and whether a group has enough
// pods.
//
// Upstream: docs/spec/plugins-crosspod.md 8.3, docs/spec/cache.md 18.5.

#include <cstdint>

#include "base/result.h"
#include "framework/pod_group_state.h"

namespace ks::plugins {

// Which pods of a group count.
enum class MemberCount : uint8_t { kKnown, kScheduled };

// How many pods, or children of a composite, a group wants: 1 without a gang policy. Requires: its
// object is known.
int64_t QuorumOf(const framework::PodGroupStates& groups, const framework::PodGroupKey& group);

// A group with enough pods, a composite with enough such children. Unknown objects are not.
bool HasQuorum(const framework::PodGroupStates& groups, const framework::PodGroupKey& group,
               MemberCount count);

// The top of the tree of a PodGroup. Error: upstream's text of what is missing on the way.
Result<framework::PodGroupKey> TreeOf(const framework::PodGroupStates& groups,
                                      const framework::PodGroupKey& group);

}  // namespace ks::plugins
