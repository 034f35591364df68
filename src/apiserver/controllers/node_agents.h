// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simulated node agents (kubelets): bound pods become Running after a delay, finish after a
// lifetime, terminating pods go away within their grace period; nodes renew their leases and can
// fail. Nothing runs; only the objects change. NoExecute taints drive pods away as upstream's taint
// manager does, whoever set them.
//
// An agent lives as long as its node's condition Ready is True: a node without that condition gets
// it (and addresses); one that is not Ready starts, ends and renews nothing until it is.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/service/service.h"

namespace ks::apiserver {

struct NodeAgentOptions {
  Duration start_delay = std::chrono::milliseconds(500);  // from binding to Running, on average
  // Lifetime of pods that do not say: zero is for ever. A pod says by annotation
  // kubesched.io/lifetime: "30s"; it then ends Succeeded, or (restartPolicy Always) its containers
  // start again. An annotation that is no duration makes an event.
  Duration lifetime{};
  // From deletion to gone; at most the grace period.
  Duration termination = std::chrono::seconds(1);
  Duration lease_interval = std::chrono::seconds(10);  // zero: no leases
  // Mean time between failures of a node, and how long one lasts: Ready Unknown, taints
  // node.kubernetes.io/unreachable. Zero: nodes do not fail.
  Duration mean_time_between_failures{};
  Duration failure_duration = std::chrono::seconds(60);
  uint64_t seed = 1;
};

std::unique_ptr<Controller> NewNodeAgents(Service& service, NodeAgentOptions options);

}  // namespace ks::apiserver
