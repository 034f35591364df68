// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a preemptor has made room. Upstream goes by the pod's status, which its scheduling thread
// has patched by then; here the patch may be under way for as long as the API server is busy, while
// the victims leave and other pods' deletions wake the preemptor, which must not make room on
// another node as well.
//
// Upstream: docs/spec/preemption.md section 3.

#include <optional>
#include <string>

#include "framework/handle.h"

namespace ks::plugins {

// The node that the pod's status names, or will when the patch has come through; empty: none.
inline std::string NominatedNode(const api::Pod& pod, const framework::Nominator& nominator) {
  if (!pod.status.nominated_node_name.empty()) return pod.status.nominated_node_name.str();
  return std::string(nominator.NodeOf(pod.meta.uid));
}

// The nomination that would be lost if it followed the pod's status; absent: that has it, or there
// is none.
inline std::optional<framework::NominatingInfo> UnseenNomination(
    const api::Pod& pod, const framework::Nominator& nominator) {
  if (!pod.status.nominated_node_name.empty()) return std::nullopt;
  std::string node(nominator.NodeOf(pod.meta.uid));
  if (node.empty()) return std::nullopt;
  return framework::NominatingInfo{std::move(node)};
}

}  // namespace ks::plugins
