// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_taints.h"

#include <algorithm>

namespace ks::plugins {
namespace {

bool Tolerates(const api::DeviceToleration& toleration, const api::DeviceTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  return toleration.op == "Exists";
}

}  // namespace

const api::DeviceTaint* UntoleratedTaint(const std::vector<api::DeviceToleration>& tolerations,
                                         const api::Device& device) {
  static const Symbol no_schedule("NoSchedule");
  static const Symbol no_execute("NoExecute");
  for (const api::DeviceTaint& taint : device.taints) {
    if (taint.effect != no_schedule && taint.effect != no_execute) continue;
    const bool tolerated = std::any_of(tolerations.begin(), tolerations.end(),
                                       [&taint](const auto& one) { return Tolerates(one, taint); });
    if (!tolerated) return &taint;
  }
  return nullptr;
}

}  // namespace ks::plugins
