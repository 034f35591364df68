// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of the messages carries a kind beside pods and nodes.

#include <type_traits>
#include <vector>

#include "cache/device_stores.h"
#include "cache/group_stores.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"

namespace ks::cache {

template <class T, class Deltas>
inline constexpr bool kCarriesKind = std::is_constructible_v<Deltas, std::vector<api::Delta<T>>>;

template <class T>
using OptionalDeltasOf =
    std::conditional_t<kCarriesKind<T, OwnerDeltas>, OwnerDeltas,
                       std::conditional_t<kCarriesKind<T, StorageDeltas>, StorageDeltas,
                                          std::conditional_t<kCarriesKind<T, DeviceDeltas>,
                                                             DeviceDeltas, GroupDeltas>>>;

}  // namespace ks::cache
