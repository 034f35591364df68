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

// A hint made of `decide`, a function of the pod, the object before and the object after; whichever
// of the two the event has not is null. Queue when the event has neither.
template <class T, class Decide>
framework::QueueingHintFn HintOn(Decide decide) {
  return [decide](const api::Pod& pod, const framework::EventObject& old_object,
                  const framework::EventObject& new_object) -> Result<framework::QueueingHint> {
    const T* before = ObjectOf<T>(old_object);
    const T* after = ObjectOf<T>(new_object);
    if (before == nullptr && after == nullptr) return framework::QueueingHint::kQueue;
    return decide(pod, before, after);
  };
}

// On a node, or nominated to one.
inline bool IsPlaced(const api::Pod& pod) {
  return !pod.node_name.empty() || !pod.status.nominated_node_name.empty();
}

}  // namespace ks::plugins
