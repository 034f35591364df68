// SPDX-License-Identifier: Apache-2.0
#pragma once
// The patch types of the API: JSON patch (RFC 6902), merge patch (RFC 7386), strategic merge patch.
// Server-side apply is refused, see PatchTypeOf.

#include <optional>
#include <string_view>

#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

enum class PatchType : uint8_t { kJson, kMerge, kStrategic };

// By content type. 415 for others, naming those that are taken.
Outcome<PatchType> PatchTypeOf(std::string_view content_type);

// `object` with the patch applied. Strategic merge knows the merge keys of the kind's lists
// (containers by name, conditions by type, taints by key …) and the directives $patch, $retainKeys,
// $setElementOrder/x and $deleteFromPrimitiveList/x. Errors: 400 for a patch that is no JSON or has
// the wrong form, 422 for a failed `test` and the like, with upstream's texts.
Outcome<Json> ApplyPatch(const KindInfo& kind, PatchType type, const Json& object,
                         std::string_view patch);

}  // namespace ks::apiserver
