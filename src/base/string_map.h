// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hash maps keyed by strings that can be asked with a string_view. The packaged Abseil has its own
// string_view type, so the standard one needs a transparent hash. Iteration order differs from run
// to run: nothing that decides may iterate over these tables.

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <functional>
#include <string>

#include "base/text_hash.h"

namespace ks {

// Pointers and references to elements are invalid after an insertion.
template <class V>
using StringMap = absl::flat_hash_map<std::string, V, TextHash, std::equal_to<>>;
using StringSet = absl::flat_hash_set<std::string, TextHash, std::equal_to<>>;

}  // namespace ks
