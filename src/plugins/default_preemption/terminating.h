// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a pod leaves because it was preempted.
//
// Upstream: docs/spec/preemption.md section 3.

#include "api/pod.h"

namespace ks::plugins {

inline bool IsTerminatingByPreemption(const api::Pod& pod) {
  if (!pod.meta.deletion_timestamp) return false;
  const api::Condition* condition = pod.FindCondition(api::kDisruptionTarget);
  return condition != nullptr && condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

}  // namespace ks::plugins
