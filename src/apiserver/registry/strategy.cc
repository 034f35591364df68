// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/strategy.h"

#include "apiserver/registry/strategy_parts.h"
#include "apiserver/schema/schema.h"

namespace ks::apiserver {

void SetDefaults(const KindInfo& kind, Json& object) {
  if (!object.is_object()) return;
  const Json& uid = At(At(object, "metadata"), "uid");
  SetKindDefaults(kind, object, uid.is_null());
  // In place: callers hold references into the object. One that did not come through DecodeObject
  // gets its form here.
  static_cast<void>(Fit(SchemaOf(kind), object, nullptr));
}

std::vector<Cause> CheckNew(const KindInfo& kind, const Json& object) {
  Causes causes;
  CheckMetadata(kind, At(object, "metadata"), causes);
  if (IsGroupKind(kind)) {
    CheckGroupKind(kind, Json(), object, Part::kMain, causes);
  } else {
    CheckKind(kind, object, causes);
  }
  return causes.Take();
}

std::vector<Cause> CheckUpdate(const KindInfo& kind, const Json& before, const Json& object,
                               Part part) {
  Causes causes;
  CheckMetadata(kind, At(object, "metadata"), causes);
  if (IsGroupKind(kind)) {
    CheckGroupKind(kind, before, object, part, causes);
    return causes.Take();
  }
  if (part != Part::kStatus) CheckKind(kind, object, causes);
  CheckKindUpdate(kind, before, object, part, causes);
  return causes.Take();
}

}  // namespace ks::apiserver
