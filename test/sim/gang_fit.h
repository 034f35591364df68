// SPDX-License-Identifier: Apache-2.0
#pragma once
// A second opinion on how many members of a gang find room: of members that are alike, so that it
// does not matter which one goes where.

#include <cstdint>
#include <optional>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "api/pod_group.h"

namespace ks::sim {

// Nothing but cpu, memory, the node's labels and taints decides where it fits.
bool AsksForRoomOnly(const api::Pod& pod);

// For how many of the members without a node there is room, in the best of the gang's domains.
// Absent: it cannot be said, because the members differ or ask for more than cpu, memory, labels
// and tolerations, because something keeps them from being tried, or because none of them waits.
// `pods`: all that there are.
std::optional<int64_t> RoomForGang(const api::PodGroup& group,
                                   const std::vector<api::PodPtr>& members,
                                   const std::vector<api::NodePtr>& nodes,
                                   const std::vector<api::PodPtr>& pods);

}  // namespace ks::sim
