// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deferred pods run on a node already and wait there for room for their resize. Under the gate
// InPlacePodVerticalScalingSchedulerPreemption they are scheduled again, onto their own node: what
// placed them there needs no second look, so most filters let them pass.
//
// Upstream: docs/spec/plugins-node.md section 1, docs/spec/cycle.md section 21.

#include "framework/handle.h"
#include "framework/pod_requests.h"

namespace ks::plugins {

// Threads: immutable.
class DeferredPods {
 public:
  explicit DeferredPods(const framework::Handle& handle)
      : on_(handle.gates().Enabled(config::Gate::kInPlacePodVerticalScalingSchedulerPreemption)) {}

  // The gate is on.
  bool on() const { return on_; }
  // The gate is on and the pod is deferred.
  bool Exempt(const api::Pod& pod) const { return on_ && framework::HasDeferredResize(pod); }

 private:
  bool on_;
};

}  // namespace ks::plugins
