// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of the two messages carries a kind beside pods and nodes.

#include <type_traits>
#include <vector>

#include "cache/owner_stores.h"
#include "cache/storage_stores.h"

namespace ks::cache {

template <class T>
using OptionalDeltasOf =
    std::conditional_t<std::is_constructible_v<OwnerDeltas, std::vector<api::Delta<T>>>,
                       OwnerDeltas, StorageDeltas>;

}  // namespace ks::cache
