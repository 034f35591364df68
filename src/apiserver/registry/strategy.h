// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a kind's objects must look like: defaults, checks, what may not change, what admission adds.
// Called by the Registry around every write; a kind without rules of its own gets the general ones.
//
// Upstream: docs/spec/api.md section 2; texts of refusals as the real kube-apiserver gives them.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/registry.h"
#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// The finalizer that admission puts on new PodGroups.
inline constexpr std::string_view kGroupProtection = "scheduling.k8s.io/podgroup-protection";

// Fills in what the server defaults, and throws away what a client may not set (status on creation,
// of kinds that reset it). Called on creation and on updates, before the checks.
void SetDefaults(const KindInfo& kind, Json& object);

// What depends on the clock or on the object as it was: times of taints, the status of devices that
// are no longer allocated. Called behind SetDefaults; `before` is null on creation.
void Prepare(const KindInfo& kind, const Json& before, const std::string& now, Json& object);

// What depends on the uid and the name: the labels and the selector of a Job. Called on creation
// when they are there.
void FinishNew(const KindInfo& kind, Json& object);

// Admission on creation: reads other objects (priority classes). Absent: admitted, `object` may
// have changed.
std::optional<Failure> Admit(const KindInfo& kind, const Registry& registry, Json& object);

// Admission of a pod's new resources: its node must have so much. Absent: admitted.
std::optional<Failure> AdmitResize(const Registry& registry, const Json& pod);

// A write to pods/resize: everything but the resources of the pod and of its containers is as
// before. Containers that are not the same ones are left for CheckUpdate to find.
void KeepAllButResources(const Json& before, Json* object);

// Empty: in order. Metadata (names, labels, annotations) is checked here too.
std::vector<Cause> CheckNew(const KindInfo& kind, const Json& object);
std::vector<Cause> CheckUpdate(const KindInfo& kind, const Json& before, const Json& object,
                               Part part);

}  // namespace ks::apiserver
