// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/plan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "api/json/encode_claim.h"
#include "base/check.h"

namespace ks::plugins {
namespace {

bool AppliesTo(const std::vector<std::string>& requests, std::string_view request,
               std::string_view with_subrequest) {
  return requests.empty() ||
         std::any_of(requests.begin(), requests.end(), [&](const std::string& one) {
           return one == request || one == with_subrequest;
         });
}

// A selector of a type that is not known; empty: there is none.
std::string UnknownSelector(const std::vector<api::DeviceSelector>& selectors) {
  for (size_t i = 0; i < selectors.size(); ++i) {
    if (selectors[i].has_value()) continue;
    return fmt::format("selector #{}: CEL expression empty (unsupported selector type?)", i);
  }
  return "";
}

std::string WithoutColon(std::string_view prefix) {
  return std::string(prefix.substr(0, prefix.size() - 2));
}

}  // namespace

AllocationPlan::AllocationPlan(const std::vector<api::ResourceClaimPtr>& claims,
                               const FindDeviceClass& classes, SelectorSets& selectors,
                               AllocatorFeatures features, VerdictTables* tables)
    : features_(features) {
  for (const api::ResourceClaimPtr& claim : claims) AddClaim(claim, classes, selectors);
  if (tables == nullptr) return;
  for (ClaimPlan& claim : claims_) {
    for (RequestPlan& request : claim.requests) {
      for (AlternativePlan& alternative : request.alternatives) {
        if (alternative.selectors == nullptr) continue;
        alternative.verdicts = tables->Find(*alternative.selectors);
      }
    }
  }
}

AlternativePlan AllocationPlan::MakeAlternative(const ClaimPlan& claim, const std::string& request,
                                                const api::ExactDeviceRequest& spec,
                                                const FindDeviceClass& classes,
                                                SelectorSets& selectors) {
  AlternativePlan made{.spec = &spec};
  made.index = alternatives_++;
  const std::string& shown = spec.name.empty() ? request : spec.name;
  made.request_name = spec.name.empty() ? request : request + "/" + spec.name;
  made.error_prefix = fmt::format("{}, request {}: ", WithoutColon(claim.error_prefix), shown);
  made.admin = spec.admin_access.value_or(false);
  made.all = spec.allocation_mode == api::kAllMode;
  const auto& constraints = claim.claim->constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    if (AppliesTo(constraints[i].requests, request, made.request_name)) {
      made.constraints.push_back(i);
    }
  }
  if (spec.has_capacity && !features_.consumable_capacity) {
    made.error = fmt::format(
        "{}, {} {}: has capacity requests, but the DRAConsumableCapacity feature is disabled",
        WithoutColon(claim.error_prefix), spec.name.empty() ? "request" : "subrequest", shown);
    return made;
  }
  if (!spec.derived_attributes.empty() && !features_.derived_attributes) {
    made.error = made.error_prefix +
                 "cannot handle request with derived attributes, the feature is disabled";
    return made;
  }
  std::string unknown = UnknownSelector(spec.selectors);
  if (!unknown.empty()) {
    made.error = fmt::format("{}, {}", WithoutColon(made.error_prefix), unknown);
    return made;
  }
  if (spec.device_class_name.empty()) {
    made.error = made.error_prefix + "missing device class name (unsupported request type?)";
    return made;
  }
  made.device_class = classes(spec.device_class_name);
  if (made.device_class == nullptr) {
    made.error = fmt::format(
        "{}could not retrieve device class {}: deviceclass.resource.k8s.io \"{}\" not "
        "found",
        made.error_prefix, spec.device_class_name.view(), spec.device_class_name.view());
    return made;
  }
  unknown = UnknownSelector(made.device_class->selectors);
  if (!unknown.empty()) {
    made.error = fmt::format("{}, {}", WithoutColon(made.error_prefix), unknown);
    return made;
  }
  for (const api::DerivedAttribute& derived : spec.derived_attributes) {
    made.derived.push_back(
        {.name = Symbol(derived.name), .expression = selectors.Derived(derived.expression)});
  }
  made.selectors = selectors.Get(made.device_class->selectors, spec.selectors);
  return made;
}

const AlternativePlan& AllocationPlan::Alternative(size_t index) const {
  for (const ClaimPlan& claim : claims_) {
    for (const RequestPlan& request : claim.requests) {
      if (index < request.alternatives.size()) return request.alternatives[index];
      index -= request.alternatives.size();
    }
  }
  KS_CHECK(false, "an alternative that the plan does not have");
}

std::string AllocationPlan::Shape() const {
  std::string shape;
  for (const ClaimPlan& claim : claims_) {
    shape += "claim\n" + api::ConstraintsJson(claim.claim->constraints);
    for (const RequestPlan& request : claim.requests) {
      shape += api::RequestJson(*request.spec);
      for (const AlternativePlan& alternative : request.alternatives) {
        const api::DeviceClass* device_class = alternative.device_class.get();
        shape += device_class == nullptr ? "?" : fmt::format("{}", fmt::ptr(device_class));
      }
    }
  }
  return shape;
}

void AllocationPlan::AddClaim(const api::ResourceClaimPtr& claim, const FindDeviceClass& classes,
                              SelectorSets& selectors) {
  static const api::ExactDeviceRequest neither;
  ClaimPlan made{.claim = claim, .error_prefix = fmt::format("claim {}: ", claim->meta.Key())};
  for (const api::DeviceRequest& request : claim->requests) {
    RequestPlan& plan = made.requests.emplace_back();
    plan.spec = &request;
    plan.first_available = !request.first_available.empty();
    plan.error_prefix =
        fmt::format("{}, request {}: ", WithoutColon(made.error_prefix), request.name);
    if (!plan.first_available) {
      const auto& spec = request.exactly.has_value() ? *request.exactly : neither;
      plan.alternatives.push_back(MakeAlternative(made, request.name, spec, classes, selectors));
    }
    for (const api::ExactDeviceRequest& spec : request.first_available) {
      plan.alternatives.push_back(MakeAlternative(made, request.name, spec, classes, selectors));
    }
    // Looked for in all alternatives, before anything else is looked at in the first.
    const auto refused = std::find_if(
        plan.alternatives.begin(), plan.alternatives.end(), [this](const AlternativePlan& one) {
          return one.spec->has_capacity && !features_.consumable_capacity;
        });
    if (refused != plan.alternatives.end()) plan.alternatives.front().error = refused->error;
  }
  for (size_t i = 0; i < claim->constraints.size(); ++i) {
    const api::DeviceConstraint& constraint = claim->constraints[i];
    if (!constraint.match_attribute.has_value() && !constraint.distinct_attribute.has_value()) {
      made.constraint_error =
          fmt::format("{}, constraint #{}: empty constraint (unsupported constraint type?)",
                      WithoutColon(made.error_prefix), i);
      break;
    }
    made.constraints.emplace_back(constraint, features_.list_attributes);
  }
  claims_.push_back(std::move(made));
}

}  // namespace ks::plugins
