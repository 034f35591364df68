// SPDX-License-Identifier: Apache-2.0
#pragma once
// What extenders make of the candidates.
//
// Upstream: docs/spec/preemption.md section 8.

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "framework/preemption_extender.h"
#include "framework/snapshot.h"
#include "plugins/default_preemption/selection.h"

namespace ks::plugins {

// Whether some extender preempts and is interested in the pod.
bool AnyoneToAsk(std::span<framework::PreemptionExtender* const> extenders,
                 const api::Pod& preemptor);

framework::VictimsByNode ByNode(const std::vector<Candidate>& candidates);

// Nodes that are in both with the same victims.
std::set<std::string> SameNodes(const framework::VictimsByNode& a,
                                const framework::VictimsByNode& b);

// Goes on with the inquiry: those who preempt and are interested in the pod are asked one after
// another. Nothing: the next one was asked just now. Else what they made of the candidates,
// ascending by node; of those on `nodes` (null: all). Error: an extender that is not ignorable
// failed. Requires: it is not waiting.
Result<std::optional<std::vector<Candidate>>> AskExtenders(
    std::span<framework::PreemptionExtender* const> extenders, const framework::Snapshot& snapshot,
    const api::Pod& preemptor, const std::shared_ptr<framework::PreemptionInquiry>& inquiry,
    const std::set<std::string>* nodes);

}  // namespace ks::plugins
