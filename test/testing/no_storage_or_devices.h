// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first full state of all kinds that volumes and devices are made of: nothing. A scheduler
// whose plugins read them schedules nothing before it knows.

#include <vector>

#include "api/kinds.h"
#include "cache/device_stores.h"
#include "cache/storage_stores.h"

namespace ks::testing {

// Calls Post of the scheduler for each kind.
template <class Scheduler>
void PostNoStorageOrDevices(Scheduler& scheduler) {
  api::StorageKinds::ForEach([&scheduler]<class T>(const T*) {
    scheduler.Post(cache::StorageDeltas(std::vector<api::Delta<T>>(1)));
  });
  api::DeviceKinds::ForEach([&scheduler]<class T>(const T*) {
    scheduler.Post(cache::DeviceDeltas(std::vector<api::Delta<T>>(1)));
  });
}

}  // namespace ks::testing
