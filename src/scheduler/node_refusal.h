// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a node refuses a pod whatever leaves it. Not a filter: only what an administrator changes
// of a node, of what the profile asks for.
//
// Upstream: docs/spec/plugins-node.md 2.8 to 2.10.

#include "api/node.h"
#include "api/pod.h"
#include "framework/runtime/runtime.h"

namespace ks::scheduler {

// By a taint, because it is cordoned, or by labels that the pod requires.
bool RefusesForGood(const framework::Framework& profile, const api::Pod& pod,
                    const api::Node& node);

}  // namespace ks::scheduler
