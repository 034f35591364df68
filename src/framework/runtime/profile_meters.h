// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a profile's runs are measured with. Only for this folder.
//
// Upstream: docs/spec/metrics.md (framework_extension_point_duration_seconds and its kin).

#include <string>

#include "base/clock.h"
#include "framework/cycle_state.h"
#include "framework/metrics/framework_metrics.h"

namespace ks::framework {

// Null metrics: nothing is measured. Null watch: nobody listens. Threads: as FrameworkMetrics.
// Lifetime: metrics, clock and watch outlive it.
class ProfileMeters {
 public:
  ProfileMeters(FrameworkMetrics* metrics, const std::string& profile_name, const Clock& clock,
                const PointWatch* watch = nullptr)
      : metrics_(metrics),
        profile_(metrics == nullptr ? nullptr : &metrics->ForProfile(profile_name)),
        clock_(clock),
        watch_(watch) {}

  bool measures() const { return metrics_ != nullptr; }
  PointTimer StartTimer(MetricPoint point) const {
    return PointTimer(profile_, &clock_, point, IsObserved(point) ? observer() : nullptr);
  }
  CallSampler Sampler(bool sampled) const {
    return CallSampler(sampled ? metrics_ : nullptr, clock_);
  }
  // Measures plugin calls when the state's cycle was drawn.
  CallSampler Sampler(const CycleState& state) const {
    return CallSampler(state.record_plugin_metrics ? metrics_ : nullptr, clock_, observer());
  }
  bool DrawCycle() const { return metrics_ != nullptr && metrics_->DrawCycle(); }
  bool DrawPreEnqueue() const { return metrics_ != nullptr && metrics_->DrawPreEnqueue(); }

 private:
  // Points of an attempt that end where they began. PreBind and Bind end when the observer may be
  // gone; the others are not run for an attempt.
  static bool IsObserved(MetricPoint point) {
    return (point >= MetricPoint::kPreFilter && point <= MetricPoint::kPreBindPreFlight) ||
           point == MetricPoint::kPostBind;
  }
  PointObserver* observer() const { return watch_ == nullptr ? nullptr : watch_->observer; }

  FrameworkMetrics* const metrics_;
  ProfileMetrics* const profile_;
  const Clock& clock_;
  const PointWatch* const watch_;
};

}  // namespace ks::framework
