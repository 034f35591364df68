// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first full state of all kinds that volumes are made of: nothing. A scheduler whose plugins
// read them schedules nothing before it knows.

#include <vector>

#include "cache/storage_stores.h"

namespace ks::testing {

// Calls post(cache::StorageDeltas) for each kind.
template <class Post>
void PostNoStorage(Post post) {
  const auto none = [&]<class... Kinds>() {
    (post(cache::StorageDeltas(std::vector<api::Delta<Kinds>>(1))), ...);
  };
  none.template
  operator()<api::PersistentVolume, api::PersistentVolumeClaim, api::StorageClass, api::CsiNode,
             api::CsiDriver, api::CsiStorageCapacity, api::VolumeAttachment>();
}

}  // namespace ks::testing
