// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the scheduler must know of plugins beyond their points, without naming any.

#include "api/node.h"
#include "api/pod.h"
#include "framework/queued_pod.h"
#include "framework/runtime/runtime.h"
#include "framework/status.h"

namespace ks::plugins {

// Whether the node refuses the pod whatever leaves it: by a taint, because it is cordoned, or by
// labels that the pod requires, each where the profile asks for it. Not a filter: only what an
// administrator changes of a node (docs/spec/plugins-node.md 2.8 to 2.10).
bool RefusesForGood(const framework::Framework& profile, const api::Pod& pod,
                    const api::Node& node);

// The pod was rejected because no node has room for it, and nothing else speaks against it but that
// its victims may be being evicted.
bool LacksRoomAlone(const framework::QueuedPod& pod);

// The verdict on a pod that runs and whose deferred resize fits where it is: it waits for its
// kubelet, and is never bound again (docs/spec/cycle.md section 21).
const framework::Status& ResizeFitsVerdict();

}  // namespace ks::plugins
