// SPDX-License-Identifier: Apache-2.0
#pragma once
// What node agents and the node lifecycle controller write into pods and nodes: pure edits of
// objects, no timing.
//
// Upstream: status as a kubelet v1.37 and kube-controller-manager v1.37.1 write it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/json_fields.h"
#include "apiserver/store/object.h"
#include "base/clock.h"

namespace ks::apiserver::agents {

struct Addresses {
  std::string pod_ip{};  // pods of the host's network get host_ip
  std::string host_ip{};
};

// All containers run and are ready, init containers are done.
void MarkRunning(Json& pod, const Addresses& addresses, TimePoint now);
// All containers ended with code 0: phase Succeeded.
void MarkSucceeded(Json& pod, TimePoint now);
// All containers ended with code 0 and were started again (restartPolicy Always).
void MarkRestarted(Json& pod, TimePoint now);
// Conditions Ready and ContainersReady as the agent reports them (true), or Ready as the node
// lifecycle controller takes it away (false). Only of running pods.
void MarkReadiness(Json& pod, bool ready, TimePoint now);
// Condition DisruptionTarget of a pod that a NoExecute taint drives away.
void MarkEvicted(Json& pod, TimePoint now);

// When the pod's main containers (last) started; absent: they did not.
std::optional<TimePoint> StartedAt(const Json& pod);

// What is missing of a healthy node's status: conditions, addresses, nodeInfo. Takes the taints
// away that say the opposite.
void MarkNodeReady(Json& node, const std::string& host_ip, TimePoint now);
// As a node whose agent fell silent: conditions Unknown, taints node.kubernetes.io/unreachable.
void MarkNodeUnreachable(Json& node, TimePoint now);
// Status of the condition Ready; "" when there is none.
std::string ReadyStatus(const Json& node);
// Address of type InternalIP; "" when there is none.
std::string InternalIp(const Json& node);

struct Taint {
  std::string key;
  std::string value;
  friend bool operator==(const Taint&, const Taint&) = default;
};
// Those with the effect NoExecute.
std::vector<Taint> EvictingTaints(const Json& node);
// How long the pod may stay with these NoExecute taints: zero when one is not tolerated, absent
// when all are for ever.
std::optional<Duration> MayStay(const Json& pod, const std::vector<Taint>& taints);

// Annotation of a pod: how long it runs ("1m30s").
inline constexpr std::string_view kLifetimeAnnotation = "kubesched.io/lifetime";
// Go's duration text, not negative: "1h2m", "1.5s". Absent: it is none.
std::optional<Duration> ParseLifetime(std::string_view text);

}  // namespace ks::apiserver::agents
