// SPDX-License-Identifier: Apache-2.0
#include "plugins/tolerations.h"

#include <algorithm>

namespace ks::plugins {

bool Tolerates(const api::Toleration& toleration, const api::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  return toleration.op == "Exists";
}

bool Tolerated(std::span<const api::Toleration> tolerations, const api::Taint& taint) {
  return std::any_of(
      tolerations.begin(), tolerations.end(),
      [&taint](const api::Toleration& toleration) { return Tolerates(toleration, taint); });
}

}  // namespace ks::plugins
