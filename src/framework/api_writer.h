// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler's writes to the API server, as the framework and its plugins see them.
// client::Writer implements it over HTTPS; tests use a recording fake. Nothing here blocks: results
// come back through callbacks.
//
// Upstream: docs/spec/api.md section 9 (bodies, retries), section 10 (events), docs/spec/cycle.md
// section 18.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api/devices.h"
#include "api/json/claim_requests.h"
#include "api/json/encode.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "api/status.h"
#include "api/storage.h"
#include "base/clock.h"

namespace ks::framework {

// An event about a pod. The writer fills in names, times and the reporting instance.
struct PodEvent {
  api::PodPtr regarding;
  api::EventRelated related;
  std::string reporting_controller;  // the profile's schedulerName
  std::string reason;
  std::string action;
  std::string note;
  bool warning = false;
};

// What became of an eviction.
enum class EvictionOutcome : uint8_t {
  kEvicted,
  kGone,  // the pod does not exist any more, or another one has its name
  kFailed,
};

// Order between kinds: bindings and evictions first, then status patches, then events; each kind
// has its own limit of requests in flight, so that a flood of failing pods cannot delay a binding.
// Threads: any. Callbacks run on a client thread, exactly once, never from inside the call itself.
class ApiWriter {
 public:
  // Empty: success.
  using Done = std::function<void(std::optional<api::ApiError>)>;

  virtual ~ApiWriter() = default;

  // Posts the binding, retried as docs/spec/api.md 9.1 says. A 409 that shows our own node after an
  // uncertain earlier try is success (trap 25).
  virtual void Bind(api::PodPtr pod, std::string node_name, Done done) = 0;

  // Patches the pod's status. A queued, unsent patch of the same pod (by uid) takes on what a later
  // one says; the earlier call's callback gets success, but waits for the answer if it brings an
  // extended_resource_claim that the later one does not. Nothing is sent when the change is empty.
  virtual void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) = 0;

  // Patches the condition into the group's status; retried as status patches of pods are. Nothing
  // is sent when the group has it so. One call for a group at a time: its answer comes first.
  virtual void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) = 0;

  // Gives the pod the condition, retried as status patches are, then deletes it, once, only if it
  // still has its uid. Nothing else is done for a pod that is gone at either call. The error is
  // there for kFailed only. `decided`: when the preemption was. Where calls have to wait, those of
  // the older preemption go first: a preemptor has its room sooner than if its last victim stood
  // behind the first victims of all others.
  using EvictionDone = std::function<void(EvictionOutcome, std::optional<api::ApiError>)>;
  virtual void EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                        EvictionDone done) = 0;

  // Gives the volume the claimRef and the annotation bound-by-controller of `version`, the claim
  // the annotation selected-node of `version`; nothing else of them is written. Only if the
  // object's resourceVersion still is that of `version`: else the error is the API server's
  // conflict. Not repeated after an answer; an uncertain try is repeated as a binding is, and a
  // conflict then is success if the object is as it was to become. `resource_version`: the object's
  // after the write; empty with an error.
  using WriteDone =
      std::function<void(std::optional<api::ApiError> error, std::string resource_version)>;
  virtual void WriteVolume(api::PersistentVolumePtr version, WriteDone done) = 0;
  virtual void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) = 0;

  // Sends one request about a ResourceClaim. After an answer it is not repeated, but for passing
  // failures of the server. After an uncertain try it is: if that was carried out, the answer is a
  // conflict. `claim`: what the API server answered; null with an error, and after kDelete.
  using ClaimDone =
      std::function<void(std::optional<api::ApiError> error, api::ResourceClaimPtr claim)>;
  virtual void SendClaimRequest(api::ClaimRequest request, ClaimDone done) = 0;

  // Queues an event; series and drops are the writer's business. Dropped events are counted, never
  // reported.
  virtual void RecordEvent(PodEvent event) = 0;
};

}  // namespace ks::framework
