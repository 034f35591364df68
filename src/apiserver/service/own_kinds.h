// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kinds whose objects the service itself looks at.

#include "apiserver/store/kinds.h"

namespace ks::apiserver {

inline const KindInfo& Pods() {
  static const KindInfo* kind = FindResource("", "v1", "pods");
  return *kind;
}
inline const KindInfo& Budgets() {
  static const KindInfo* kind = FindResource("policy", "v1", "poddisruptionbudgets");
  return *kind;
}

}  // namespace ks::apiserver
