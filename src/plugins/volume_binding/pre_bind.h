// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreBind of VolumeBinding: writes what Reserve has assumed, one object after the other, then waits
// until the claims are bound.
//
// Upstream: docs/spec/plugins-volume.md section 2.10. The wait asks at once and whenever one of the
// pod's storage objects changes; the pod and the node, like everything, once a second. Upstream
// asks once a second, for the first time after one.

#include <memory>

#include "base/clock.h"
#include "framework/handle.h"
#include "framework/metrics/volume_metrics.h"
#include "plugins/volume_binding/reservation.h"

namespace ks::plugins {

struct BindingWork {
  std::shared_ptr<Reservation> reservation;
  api::PodPtr pod;
  Duration timeout{};                           // of the wait
  framework::VolumeMetrics* metrics = nullptr;  // may be null
};

// Lifetime: `handle` outlives the sequence.
std::unique_ptr<framework::PreBindSequence> NewBindingSequence(framework::Handle& handle,
                                                               BindingWork work);

}  // namespace ks::plugins
