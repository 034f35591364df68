// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which events may help a pod that hard constraints keep waiting.
//
// Upstream: docs/spec/plugins-crosspod.md 4.10, docs/spec/queue.md 10.12.

#include "framework/events.h"
#include "plugins/pod_topology_spread/constraints.h"

namespace ks::plugins {

// A pod on a node, or nominated to one, was added (old null), deleted (new null) or changed.
framework::QueueingHint HintAfterAssignedPod(const api::Pod& pod,
                                             const SpreadConstraints& constraints,
                                             const api::Pod* old_pod, const api::Pod* new_pod);
// The pod has constraints of its own, and they need not be compiled for their error.
bool HasSoundConstraints(const api::PodSpec& spec);
// Whether the answer of HintAfterAssignedPod is Skip, by namespaces and labels as written.
// Requires: HasSoundConstraints.
bool CannotHelpAfterAssignedPod(const api::Pod& pod, const api::Pod* old_pod,
                                const api::Pod* new_pod);
// The pod itself changed.
framework::QueueingHint HintAfterOwnChange(const SpreadConstraints& constraints,
                                           const api::Pod& old_pod, const api::Pod& new_pod);
// A node was added (old null), deleted (new null) or changed.
framework::QueueingHint HintAfterNode(const SpreadConstraints& constraints,
                                      const api::Node* old_node, const api::Node* new_node);
// The same. Requires: HasSoundConstraints.
framework::QueueingHint HintAfterNode(const api::PodSpec& spec, const api::Node* old_node,
                                      const api::Node* new_node);

// What HintAfterNode looks at. For specs whose constraints are all their own.
void AddTopologyKeys(const api::PodSpec& spec, framework::NodeLabelReads* reads);

}  // namespace ks::plugins
