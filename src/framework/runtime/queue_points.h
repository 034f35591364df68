// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the queue asks: QueueSort, PreEnqueue and Sign, and whether an attempt would be in vain.
//
// Upstream: docs/spec/framework.md sections 3 and 14.

#include <string_view>

#include "framework/handle.h"
#include "framework/runtime/point_lists.h"
#include "framework/runtime/profile_meters.h"

namespace ks::framework {

// Threads: the scheduling thread. Lifetime: lists and meters outlive it.
class QueuePoints {
 public:
  QueuePoints(const PointLists& lists, const ProfileMeters& meters)
      : lists_(lists), meters_(meters) {}

  bool QueueSortLess(const QueuedEntity& a, const QueuedEntity& b) const;
  // Asks `first` (the plugin that gated the pod last time; may be empty) before the others. The
  // status carries the gating plugin's name.
  // The others come in list order (upstream: undefined). Any code but Success gates.
  Status RunPreEnqueuePlugins(const api::Pod& pod, std::string_view first) const;
  // Whether the answer for a member of a pod group can change without that for the others
  // (GateScope).
  bool GateChangesAlone(const api::Pod& pod) const;
  // PostFilterPlugin::IsIdle of all of them: an attempt of the pod would be in vain.
  bool PostFiltersAreIdle(const api::Pod& pod, std::string_view freed) const;
  // The fragments of all plugins at PreFilter, Filter, PreScore and Score plus the scheduler name,
  // as JSON with sorted keys (docs/spec/framework.md section 14). A failing plugin's status has its
  // name.
  SignOutcome SignPod(const api::Pod& pod) const;
  // False: SignPod refuses every pod.
  bool SignsPods() const;

 private:
  Status AskPreEnqueues(const api::Pod& pod, std::string_view first) const;
  SignOutcome MergeFragments(const api::Pod& pod) const;

  const PointLists& lists_;
  const ProfileMeters& meters_;
};

}  // namespace ks::framework
