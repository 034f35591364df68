// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/storage_score.h"

#include <algorithm>
#include <cmath>

#include "golang/go_arithmetic.h"
#include "plugins/kit/resource_score/strategies.h"

namespace ks::plugins {
namespace {

// What is asked of one class and what there is of it, in bytes.
struct ClassUse {
  Symbol storage_class;
  int64_t requested = 0;
  int64_t capacity = 0;
};

ClassUse& UseOf(std::vector<ClassUse>& uses, const Symbol& storage_class) {
  const auto found = std::find_if(uses.begin(), uses.end(), [storage_class](const ClassUse& use) {
    return use.storage_class == storage_class;
  });
  if (found != uses.end()) return *found;
  return uses.emplace_back(ClassUse{.storage_class = storage_class});
}

int64_t Requested(const api::PersistentVolumeClaim& claim) {
  return claim.requested ? claim.requested->Value() : 0;
}

// The field, not the annotation, decides.
std::vector<ClassUse> UsesOfBindings(const NodeOffer& offer) {
  std::vector<ClassUse> uses;
  for (const StaticBinding& binding : offer.bindings) {
    ClassUse& use = UseOf(uses, binding.volume->storage_class_name);
    use.requested = golang::WrappingAdd(use.requested, Requested(*binding.claim));
    use.capacity = golang::WrappingAdd(use.capacity, binding.volume->capacity.Value());
  }
  return uses;
}

std::vector<ClassUse> UsesOfProvisions(const NodeOffer& offer) {
  std::vector<ClassUse> uses;
  for (const Provision& provision : offer.provisions) {
    if (provision.capacity == nullptr) continue;
    // Upstream's process ends where there is no field, or no capacity beside the limit.
    const api::PersistentVolumeClaim& claim = *provision.claim;
    ClassUse& use = UseOf(uses, claim.storage_class_name.value_or(claim.StorageClass()));
    use.requested = golang::WrappingAdd(use.requested, Requested(claim));
    use.capacity = provision.capacity->capacity ? provision.capacity->capacity->Value() : 0;
  }
  return uses;
}

int64_t Utilization(const ClassUse& use) {
  if (use.capacity == 0 || use.requested > use.capacity) return 100;
  return golang::WrappingDiv(golang::WrappingMul(use.requested, 100), use.capacity);
}

}  // namespace

int64_t StorageScore(const NodeOffer& offer, std::span<const config::UtilizationShapePoint> shape) {
  const std::vector<ClassUse> uses =
      offer.bindings.empty() ? UsesOfProvisions(offer) : UsesOfBindings(offer);
  if (uses.empty()) return 0;
  double sum = 0;
  for (const ClassUse& use : uses) sum += static_cast<double>(ShapeValue(shape, Utilization(use)));
  return std::llround(sum / static_cast<double>(uses.size()));
}

}  // namespace ks::plugins
