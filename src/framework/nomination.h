// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a pod is expected to run: the one place that says so. Upstream goes by the pod's status,
// which its scheduling thread has patched by the time that the pod is tried again; here the patch
// may be under way for as long as the API server is busy, while other pods' deletions wake the
// preemptor, which must neither make room on another node as well nor pass over its own.
//
// Upstream: docs/spec/preemption.md section 3, docs/spec/cycle.md section 8.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/handle.h"

namespace ks::framework {

// Whether a pod nominated to a node counts for this one, which wants to go there
// (docs/spec/framework.md section 9).
inline bool Respects(const api::Pod& pod, const api::Pod& nominated) {
  return nominated.Priority() >= pod.Priority() && nominated.meta.uid != pod.meta.uid;
}

// The node that the pod's status names, or will when the patch has come through; empty: none.
// Valid as long as the pod and until the next nomination.
inline std::string_view NominatedNode(const api::Pod& pod, const Nominator& nominator) {
  const Symbol& node = pod.status.nominated_node_name;
  return node.empty() ? nominator.NodeOf(pod.meta.uid) : node.view();
}

// The nomination that would be lost if it followed the pod's status; absent: that has it, or there
// is none.
inline std::optional<NominatingInfo> UnseenNomination(const api::Pod& pod,
                                                      const Nominator& nominator) {
  if (!pod.status.nominated_node_name.empty()) return std::nullopt;
  std::string node(nominator.NodeOf(pod.meta.uid));
  if (node.empty()) return std::nullopt;
  return NominatingInfo{std::move(node)};
}

// A pod that is on a node for a trial is not expected on one besides: it would count twice. The
// node to which it was nominated, for GiveNominationBack; empty: it was not.
inline std::string TakeNomination(const api::Pod& pod, Nominator& nominator) {
  std::string node(nominator.NodeOf(pod.meta.uid));
  nominator.DeleteNominatedPodIfExists(pod);
  return node;
}

// As it was, whatever the pod's status says.
inline void GiveNominationBack(const api::PodPtr& pod, const std::string& node,
                               Nominator& nominator) {
  if (!node.empty()) nominator.AddNominatedPod(pod, NominatingInfo{node});
}

}  // namespace ks::framework
