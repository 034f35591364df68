// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first full state of kinds of which there is nothing. A scheduler whose plugins read a kind
// schedules nothing before it knows. Each calls Post of the scheduler once for a kind.

#include <vector>

#include "api/kinds.h"
#include "cache/optional_deltas.h"

namespace ks::testing {

// T: a kind beside pods and nodes.
template <class T, class Scheduler>
void PostNo(Scheduler& scheduler) {
  scheduler.Post(cache::OptionalDeltasOf<T>(std::vector<api::Delta<T>>(1)));
}

// Of what selects pods, and of namespaces.
template <class Scheduler>
void PostNoOwners(Scheduler& scheduler) {
  api::OwnerKinds::ForEach([&scheduler]<class T>(const T*) { PostNo<T>(scheduler); });
}

template <class Scheduler>
void PostNoStorageOrDevices(Scheduler& scheduler) {
  api::StorageKinds::ForEach([&scheduler]<class T>(const T*) { PostNo<T>(scheduler); });
  api::DeviceKinds::ForEach([&scheduler]<class T>(const T*) { PostNo<T>(scheduler); });
}

// Requires: their gates.
template <class Scheduler>
void PostNoGroups(Scheduler& scheduler) {
  api::GroupKinds::ForEach([&scheduler]<class T>(const T*) { PostNo<T>(scheduler); });
}

}  // namespace ks::testing
