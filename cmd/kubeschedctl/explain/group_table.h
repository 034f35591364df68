// SPDX-License-Identifier: Apache-2.0
#pragma once
// The explanation of a group of pods as text for people: the verdict, the placements, the groups of
// a tree, the members by node and by reason.

#include <cstddef>
#include <string>
#include <vector>

#include "inspect/explain_group.h"

namespace ks::ctl {

inline constexpr size_t kGroupRowsShown = 10;  // of each table

// Lines, each with its line feed.
std::string GroupTable(const inspect::GroupExplanation& explanation);
// What preemption would do for a group: its message, then by node the members that would go there
// and the pods that would leave.
std::string GroupPreemptionText(const inspect::GroupPreemptionVerdict& preemption);
// Of simulated or explained members: how many go to which node, and why the others go nowhere.
std::string MembersTable(const std::vector<inspect::MemberVerdict>& members);

}  // namespace ks::ctl
