// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a node has enough for a pod when nothing else runs there.
//
// Upstream: docs/spec/plugins-node.md 4.8.

#include "framework/handle.h"
#include "framework/resource.h"

namespace ks::plugins {

// `all`: what the node can give. A resource that devices serve where the node has none is never
// short. Ignored resources are not known here.
bool FitsEmpty(const framework::Handle& handle, const framework::Resource& request,
               const framework::Resource& all);

}  // namespace ks::plugins
