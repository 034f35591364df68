// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the checks of the device kinds (resource.k8s.io) share. For strategy*.cc only; everywhere
// JSON of any form is taken.
//
// Upstream: docs/spec/plugins-dra.md section 5; texts as the real kube-apiserver gives them.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/strategy_check.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

inline constexpr size_t kMostRequests = 32;  // and constraints, configurations, results
inline constexpr size_t kLongestDriver = 63;
inline constexpr size_t kLongestPool = 253;

// The elements of a list; none, and a cause, when they are more than `most`.
const std::vector<Json>& AtMost(const std::string& field, const Json& list, size_t most,
                                Causes& causes);
// A value that is there twice, with its members in the order in which upstream's type has them.
// `path`: of the list in objects of `kind`, without indexes: "spec.devices.requests".
void AddDuplicate(std::string field, const Json& value, std::string_view kind,
                  std::string_view path, Causes& causes);

// strategy_device_names.cc
enum class Spelling : uint8_t { kLower, kAny };
void CheckDriver(const std::string& field, const Json& name, Spelling spelling, Causes& causes);
// Subdomains with slashes between them. `numbered`: errors say which of them.
void CheckPool(const std::string& field, const Json& name, bool numbered, Causes& causes);
void CheckDnsLabel(const std::string& field, const Json& name, Causes& causes);
// The name of an attribute or a capacity as a key of a map, with or without a domain.
void CheckKey(const std::string& field, const std::string& name, Causes& causes);
// The name of an attribute in a constraint: domain/id.
void CheckFullName(const std::string& field, const Json& name, Causes& causes);
bool IsUuid(std::string_view text);

// strategy_device_parts.cc
void CheckSelectors(const std::string& field, const Json& list, Causes& causes);
// The configuration of a claim, class or allocation: for now always opaque.
void CheckOpaque(const std::string& field, const Json& configuration, Causes& causes);
void CheckDeviceTolerations(const std::string& field, const Json& list, Causes& causes);
void CheckDeviceTaint(const std::string& field, const Json& taint, Causes& causes);
// bindingConditions and bindingFailureConditions of `object`.
void CheckBindingConditions(const std::string& field, const Json& object, Causes& causes);
// metav1.Condition.
void CheckConditions(const std::string& field, const Json& list, Causes& causes);

// strategy_claims.cc
// Names by which constraints, configurations and results may mean requests: of the requests, and
// with a slash of their alternatives.
std::set<std::string> RequestNames(const Json& claim_spec);
void CheckRequestNames(const std::string& field, const Json& names,
                       const std::set<std::string>& known, Causes& causes);
void CheckDeviceClaim(const std::string& field, const Json& claim_spec, Causes& causes);

// strategy_claim_status.cc
void CheckClaimStatus(const Json& before, const Json& claim, Causes& causes);
// Takes the status of devices away that are no longer allocated.
void DropDeallocated(const Json& before, Json& claim);

// strategy_slices.cc
void CheckSlice(const Json& slice, Causes& causes);
void CheckSliceUpdate(const Json& before, const Json& slice, Causes& causes);

}  // namespace ks::apiserver
