// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which pods belong together: the selector of a pod's Services and of its controller.
//
// Upstream: docs/spec/plugins-crosspod.md section 4.3.

#include <optional>
#include <vector>

#include "api/pod.h"
#include "api/workloads.h"
#include "framework/owner_listers.h"

namespace ks::plugins {

// Whether `labels` has every label of `wanted`.
bool HasLabels(const api::LabelMap& labels, const api::LabelMap& wanted);

// A conjunction. Threads: like a value.
struct DerivedSelector {
  api::LabelMap labels;
  std::optional<api::LabelSelector> requirements;

  bool Empty() const { return labels.empty() && !requirements; }
  bool Matches(const api::LabelMap& pod_labels) const {
    return HasLabels(pod_labels, labels) && (!requirements || requirements->Matches(pod_labels));
  }
};

// The Services of the pod's namespace that select it, ascending by name. Valid within the attempt.
std::vector<const api::Service*> ServicesOf(const api::Pod& pod,
                                            const framework::OwnerListers& listers);

// Reads all kinds of owners. The result may exclude the pod itself: its controller's selector is
// taken as it is now.
DerivedSelector DeriveSelector(const api::Pod& pod, const framework::OwnerListers& listers);

}  // namespace ks::plugins
