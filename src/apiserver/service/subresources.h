// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is posted without being stored: bindings, evictions, reviews of tokens and access.
//
// Upstream: docs/spec/api.md section 9.1 (binding), docs/spec/preemption.md (budgets).

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/registry/registry.h"
#include "apiserver/service/authorizer.h"
#include "apiserver/service/request_info.h"
#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"
#include "apiserver/store/types.h"

namespace ks::apiserver {

// The Status that says that something posted was done: 201.
Json CreatedStatus();

// POST pods/<name>/binding and POST bindings. The answer's body is a Status, 201.
Outcome<Json> BindPod(Registry& registry, std::string_view ns, std::string_view url_name,
                      const Json& binding, bool dry_run);

// POST pods/<name>/eviction: 201 Status; 429 while a PodDisruptionBudget forbids it. deleteOptions
// of the body (grace period, preconditions, dryRun) hold for the deletion; `dry_run` is that of the
// query.
Outcome<Json> EvictPod(Registry& registry, std::string_view ns, std::string_view url_name,
                       const Json& eviction, bool dry_run = false);

// Recomputes status.disruptionsAllowed and its companions of all budgets of a namespace from its
// pods, as the disruption controller would. Called by the Service after changes of pods and
// budgets. Writes only what has changed. What a pod's owner wants is read from ReplicaSets,
// StatefulSets and ReplicationControllers; the ReplicaSets of one Deployment count together, since
// Deployments are not stored.
void UpdateDisruptionBudgets(Registry& registry, std::string_view ns);

// Whom a bearer token belongs to.
using TokenLookup = std::function<std::optional<UserInfo>(std::string_view token)>;

// POST tokenreviews, subjectaccessreviews, selfsubjectaccessreviews, selfsubjectreviews,
// localsubjectaccessreviews: the object with its status filled in. Absent: the resource is none of
// these.
std::optional<Outcome<Json>> Review(const RequestInfo& info, const UserInfo& user, Json body,
                                    const Authorizer& authorizer, const TokenLookup& tokens);

}  // namespace ks::apiserver
