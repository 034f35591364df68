// SPDX-License-Identifier: Apache-2.0
#pragma once
// The claims of a pod made ready for allocation: what does not depend on a node is looked up,
// compiled and judged once per attempt.
//
// Upstream: docs/spec/plugins-dra.md sections 5 and 6.1.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/devices.h"
#include "plugins/dynamic_resources/constraints.h"
#include "plugins/dynamic_resources/features.h"
#include "plugins/dynamic_resources/selectors.h"
#include "plugins/dynamic_resources/verdict_table.h"

namespace ks::plugins {

// A class by its name; null: there is none.
using FindDeviceClass = std::function<api::DeviceClassPtr(const Symbol&)>;

// An attribute that a request computes of each device.
struct DerivedPlan {
  Symbol name;  // "domain/id"
  Expression expression;
};

// `exactly`, or one of `firstAvailable`.
struct AlternativePlan {
  const api::ExactDeviceRequest* spec = nullptr;
  api::DeviceClassPtr device_class{};
  std::shared_ptr<const SelectorSet> selectors{};
  std::shared_ptr<VerdictTable> verdicts{};  // of `selectors`; null: none were made beforehand
  std::string error{};                       // fatal when its turn comes
  std::string request_name{};                // "r" or "r/sub"
  std::string error_prefix{};                // "claim ns/n, request r: "
  size_t index = 0;                          // among all alternatives of the plan
  bool admin = false;
  bool all = false;
  std::vector<size_t> constraints{};  // of the claim, those that apply
  std::vector<DerivedPlan> derived{};
};

struct RequestPlan {
  const api::DeviceRequest* spec = nullptr;
  std::string error_prefix{};
  bool first_available = false;
  std::vector<AlternativePlan> alternatives{};
};

struct ClaimPlan {
  api::ResourceClaimPtr claim{};
  std::string error_prefix{};  // "claim ns/n: "
  std::vector<RequestPlan> requests{};
  std::vector<AttributeConstraint> constraints{};
  std::string constraint_error{};  // fatal after the requests; empty: none
};

// Immutable. Threads: any.
class AllocationPlan {
 public:
  // `tables`: of verdicts that were made beforehand; may be null.
  AllocationPlan(const std::vector<api::ResourceClaimPtr>& claims, const FindDeviceClass& classes,
                 SelectorSets& selectors, AllocatorFeatures features,
                 VerdictTables* tables = nullptr);

  const std::vector<ClaimPlan>& claims() const { return claims_; }
  const AllocatorFeatures& features() const { return features_; }
  size_t alternatives() const { return alternatives_; }
  // By AlternativePlan::index. Requires: below alternatives().
  const AlternativePlan& Alternative(size_t index) const;
  // Plans of equal shapes are answered alike, but for names in errors: it tells all that they ask
  // for, and the versions of their classes.
  std::string Shape() const;

 private:
  void AddClaim(const api::ResourceClaimPtr& claim, const FindDeviceClass& classes,
                SelectorSets& selectors);
  AlternativePlan MakeAlternative(const ClaimPlan& claim, const std::string& request,
                                  const api::ExactDeviceRequest& spec,
                                  const FindDeviceClass& classes, SelectorSets& selectors);

  const AllocatorFeatures features_;
  std::vector<ClaimPlan> claims_;
  size_t alternatives_ = 0;
};

}  // namespace ks::plugins
