// SPDX-License-Identifier: Apache-2.0
#pragma once
// What queueing hints have in common.
//
// Upstream: docs/spec/plugins-crosspod.md sections 3.10 and 4.10.

#include <memory>
#include <variant>

#include "api/pod.h"
#include "framework/events.h"

namespace ks::plugins {

// T is api::Pod or api::Node. Null where the event has no such object.
template <class T>
const T* ObjectOf(const framework::EventObject& object) {
  const auto* held = std::get_if<std::shared_ptr<const T>>(&object);
  return held == nullptr ? nullptr : held->get();
}

inline framework::QueueingHint QueueIf(bool may_help) {
  return may_help ? framework::QueueingHint::kQueue : framework::QueueingHint::kSkip;
}

// On a node, or nominated to one.
inline bool IsPlaced(const api::Pod& pod) {
  return !pod.node_name.empty() || !pod.status.nominated_node_name.empty();
}

}  // namespace ks::plugins
