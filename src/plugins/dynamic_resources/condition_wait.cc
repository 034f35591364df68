// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/condition_wait.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "framework/metrics/device_metrics.h"
#include "plugins/dynamic_resources/binding_conditions.h"

namespace ks::plugins {

using framework::Status;

namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(5);

}  // namespace

ConditionWait::ConditionWait(framework::Handle& handle, std::vector<api::ResourceClaimPtr> claims,
                             Duration timeout)
    : handle_(handle),
      claims_(std::move(claims)),
      timeout_(timeout),
      began_(handle.clock().Now()) {}

bool ConditionWait::needed() const {
  return std::any_of(claims_.begin(), claims_.end(), [](const api::ResourceClaimPtr& claim) {
    return claim->allocation != nullptr && HasBindingConditions(*claim->allocation);
  });
}

framework::PreBindStep ConditionWait::Step() {
  framework::PreBindStep step;
  step.condition = [this] { return Ask(); };
  step.concerned_by = [this] {
    std::vector<framework::ObjectChange> objects;
    for (const api::ResourceClaimPtr& claim : claims_) {
      objects.push_back({framework::OptionalKind::kResourceClaim, claim->meta.Key()});
    }
    return objects;
  };
  // Not a failure yet: Next asks whether it is.
  step.deadline = std::min(began_ + timeout_, handle_.clock().Now() + kBetweenLooks);
  return step;
}

std::optional<Status> ConditionWait::Ask() {
  if (KS_CANARY(DevicesNotAwaited)) outcome_ = "";
  if (!outcome_) outcome_ = Judge();
  if (outcome_) return Status();
  return std::nullopt;
}

std::optional<std::string> ConditionWait::Judge() {
  bool ready = true;
  for (api::ResourceClaimPtr& claim : claims_) {
    if (claim->allocation == nullptr) continue;
    const std::string key = claim->meta.Key();
    if (const api::ResourceClaimPtr latest = handle_.devices().FindClaim(key)) {
      claim = latest;
    } else {
      Report("error");
      return "could not find ResourceClaim \"" + key + '"';
    }
    if (claim->allocation == nullptr) {
      ready = false;
      break;
    }
    const DeviceReadiness readiness = ReadinessOf(*claim);
    if (readiness.state == DeviceReadiness::State::kReady) continue;
    if (readiness.state == DeviceReadiness::State::kFailed) {
      Report("failure");
      return readiness.failure;
    }
    if (BindingTimedOut(*claim, timeout_, handle_.clock().WallNow())) {
      Report("timeout");
      return "device binding timeout: claim=" + claim->meta.name;
    }
    ready = false;
    break;
  }
  if (ready) {
    Report("success");
    return "";
  }
  if (handle_.clock().Now() < began_ + timeout_) return std::nullopt;
  Report("timeout");
  return "device binding timeout: context deadline exceeded";
}

void ConditionWait::Report(const char* status) {
  framework::DeviceMetrics* metrics = handle_.device_metrics();
  if (metrics == nullptr) return;
  const Duration took = handle_.clock().Now() - began_;
  for (const api::ResourceClaimPtr& claim : claims_) {
    if (claim->allocation == nullptr) continue;
    for (const api::DeviceResult& result : claim->allocation->results) {
      metrics->BindingWaitEnded({.profile = handle_.ProfileName(),
                                 .driver = result.driver.str(),
                                 .status = status,
                                 .had_conditions = !result.binding_conditions.empty()},
                                took);
    }
  }
}

}  // namespace ks::plugins
