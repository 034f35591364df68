// SPDX-License-Identifier: Apache-2.0
#pragma once
// An explanation as text for people: the verdict, the rejected nodes by reason, the best nodes.

#include <cstddef>
#include <string>
#include <string_view>

#include "api/pod.h"
#include "framework/snapshot.h"
#include "scheduler/explain.h"

namespace ks::ctl {

inline constexpr size_t kBestNodesShown = 10;
inline constexpr size_t kTriedNodesShown = 10;

// Lines, each with its line feed. `snapshot` is the one that was explained: it knows how much is
// free. `only_node`: the node to list; empty: all.
std::string ExplanationTable(const scheduler::Explanation& explanation, const api::Pod& pod,
                             const framework::Snapshot& snapshot, std::string_view only_node = {});

}  // namespace ks::ctl
