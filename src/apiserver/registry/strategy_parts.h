// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of strategy.h by kind. For strategy*.cc only; everywhere JSON of any form is taken.

#include <optional>
#include <string>

#include "apiserver/registry/registry.h"
#include "apiserver/registry/strategy_check.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// strategy_meta.cc
void CheckMetadata(const KindInfo& kind, const Json& metadata, Causes& causes);

// strategy_pod_defaults.cc
// The defaults of a pod's spec, also inside of a template.
void SetPodSpecDefaults(Json& spec);
// What only pods get; `is_new`: their status is made anew.
void SetPodDefaults(Json& pod, bool is_new);
void SetVolumeClaimSpecDefaults(Json& spec);
// Guaranteed, Burstable or BestEffort: what limits and requests of cpu and memory say.
std::string QosOf(const Json& spec);

// strategy_pod_check.cc, strategy_pod_spec.cc
void CheckPodSpec(const std::string& field, const Json& spec, Causes& causes);
// spec.template of a kind that makes pods, but for its restart policy. `selects`: its labels are in
// order.
void CheckPodTemplate(const Json& pod_template, bool selects, Causes& causes);
void CheckContainers(const std::string& field, const Json& spec, Causes& causes);
void CheckVolumes(const std::string& field, const Json& spec, Causes& causes);
void CheckTolerations(const std::string& field, const Json& tolerations, Causes& causes);

// strategy_pod_update.cc
void CheckPodUpdate(const Json& before, const Json& pod, Part part, Causes& causes);
// strategy_pod_resize.cc
void CheckPodResize(const Json& before, const Json& pod, Causes& causes);

// strategy_defaults.cc
void SetKindDefaults(const KindInfo& kind, Json& object, bool is_new);

// strategy_kinds.cc
void CheckKind(const KindInfo& kind, const Json& object, Causes& causes);
// Whether the labels are among those that a (well-formed) selector matches.
bool SelectsLabels(const Json& selector, const Json& labels);
// strategy_jobs.cc
void SetJobDefaults(Json& job);
void CheckJob(const Json& job, Causes& causes);
void CheckJobUpdate(const Json& before, const Json& job, Causes& causes);
// strategy_storage.cc
void CheckStorageKind(const KindInfo& kind, const Json& object, Causes& causes);
// strategy_device_kinds.cc: the kinds of resource.k8s.io.
void SetDeviceKindDefaults(const KindInfo& kind, Json& object);
void CheckDeviceKind(const KindInfo& kind, const Json& object, Causes& causes);
void CheckDeviceKindUpdate(const KindInfo& kind, const Json& before, const Json& object, Part part,
                           Causes& causes);
// Admission: who may ask for administrator's access.
std::optional<Failure> AdmitAdminAccess(const KindInfo& kind, const Registry& registry,
                                        const Json& object);
// strategy_groups.cc: groups of pods, and Workloads.
bool IsGroupKind(const KindInfo& kind);
void SetGroupKindDefaults(const KindInfo& kind, Json& object);
// All checks; `before` is no object on creation. Requires: IsGroupKind.
void CheckGroupKind(const KindInfo& kind, const Json& before, const Json& object, Part part,
                    Causes& causes);
// Admission: the finalizer of a new PodGroup.
void ProtectGroup(Json& group);
// strategy_pod_claims.cc
// The status of a pod's claims.
void CheckPodClaimStatuses(const Json& pod, Causes& causes);
// strategy_kinds_update.cc
void CheckKindUpdate(const KindInfo& kind, const Json& before, const Json& object, Part part,
                     Causes& causes);

}  // namespace ks::apiserver
