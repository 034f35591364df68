// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hash maps keyed by strings that can be asked with a string_view. The packaged Abseil has its own
// string_view type, so the standard one needs this transparent hash. Iteration order differs from
// run to run: nothing that decides may iterate over these maps.

#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace ks {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Pointers and references to elements are invalid after an insertion.
template <class V>
using StringMap = absl::flat_hash_map<std::string, V, StringHash, std::equal_to<>>;

}  // namespace ks
