// SPDX-License-Identifier: Apache-2.0
#include "apiserver/patch.h"

namespace ks::apiserver {

Outcome<PatchType> PatchTypeOf(std::string_view) { return PatchType::kMerge; }

Outcome<Json> ApplyPatch(const KindInfo&, PatchType, const Json& object, std::string_view patch) {
  Json result = object;
  result.merge_patch(Json::parse(patch));
  return result;
}

}  // namespace ks::apiserver
