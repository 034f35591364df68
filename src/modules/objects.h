// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods and nodes as a module holds them: the scheduler's own objects, with no look inside.

#include <span>

#include "api/pod.h"
#include "framework/node_info.h"
#include "kubesched/plugin.h"

namespace ks::modules {

inline const ks_pod* HandleOf(const api::Pod& pod) { return reinterpret_cast<const ks_pod*>(&pod); }
inline const ks_node* HandleOf(const framework::NodeInfo& node) {
  return reinterpret_cast<const ks_node*>(&node);
}
inline const ks_node* const* HandlesOf(std::span<const framework::NodeInfo* const> nodes) {
  return reinterpret_cast<const ks_node* const*>(nodes.data());
}
// May be null.
inline const api::Pod* PodOf(const ks_pod* pod) { return reinterpret_cast<const api::Pod*>(pod); }
inline const framework::NodeInfo* NodeOf(const ks_node* node) {
  return reinterpret_cast<const framework::NodeInfo*>(node);
}

}  // namespace ks::modules
