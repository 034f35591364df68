// SPDX-License-Identifier: Apache-2.0
#include "framework/pod_charges.h"

#include <cstdint>
#include <utility>

namespace ks::framework {

PodChargePtr PodCharges::Of(const api::Pod& pod) {
  // Its condition counts as well, and it is one of few.
  if (pod.FindCondition(api::kPodResizePending) != nullptr) {
    return std::make_shared<const PodCharge>(pod);
  }
  if (slots_.empty()) slots_.resize(kSlots);
  const auto& resources = pod.status.resources.ptr();
  // Addresses are multiples of 16 at least; the multiplication spreads what is left.
  const uint64_t hash = (reinterpret_cast<uintptr_t>(pod.spec.get()) * 31 +
                         reinterpret_cast<uintptr_t>(resources.get())) *
                        0x9e3779b97f4a7c15ULL;
  Slot& slot = slots_[(hash >> 32) % kSlots];
  if (slot.charge == nullptr || slot.spec != pod.spec || slot.resources != resources) {
    auto charge = std::make_shared<const PodCharge>(pod);
    if (charge->spec_bytes > kMostBytes) return charge;
    slot = {pod.spec, resources, std::move(charge)};
  }
  return slot.charge;
}

}  // namespace ks::framework
