// SPDX-License-Identifier: Apache-2.0
#pragma once
// An explanation as text for people: the verdict, the rejected nodes by reason, the best nodes.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/pod.h"
#include "framework/snapshot.h"
#include "inspect/explain.h"
#include "inspect/live_explain.h"

namespace ks::ctl {

inline constexpr size_t kBestNodesShown = 10;
inline constexpr size_t kTriedNodesShown = 10;
inline constexpr size_t kStoriesShown = 3;  // of a reason that several kinds of nodes have

// How much of a resource is missing on the node, if the reason is about that.
using ShortageFinder = std::function<std::optional<inspect::Shortage>(
    const inspect::NodeVerdict& node, const std::string& reason)>;
// From the snapshot that was explained; it and the pod outlive the result.
ShortageFinder ShortagesIn(const framework::Snapshot& snapshot, const api::Pod& pod);

// Lines, each with its line feed. `only_node`: the node to list; empty: all.
std::string ExplanationTable(const inspect::Explanation& explanation,
                             const ShortageFinder& shortage_of, std::string_view only_node = {});

}  // namespace ks::ctl
