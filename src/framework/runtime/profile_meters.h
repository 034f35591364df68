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

// Null metrics: nothing is measured. Threads: as FrameworkMetrics. Lifetime: metrics and clock
// outlive it.
class ProfileMeters {
 public:
  ProfileMeters(FrameworkMetrics* metrics, const std::string& profile_name, const Clock& clock)
      : metrics_(metrics),
        profile_(metrics == nullptr ? nullptr : &metrics->ForProfile(profile_name)),
        clock_(clock) {}

  bool measures() const { return metrics_ != nullptr; }
  PointTimer StartTimer(MetricPoint point) const { return PointTimer(profile_, &clock_, point); }
  CallSampler Sampler(bool sampled) const {
    return sampled && metrics_ != nullptr ? CallSampler(*metrics_, clock_) : CallSampler();
  }
  // Measures plugin calls when the state's cycle was drawn.
  CallSampler Sampler(const CycleState& state) const {
    return Sampler(state.record_plugin_metrics);
  }
  bool DrawCycle() const { return metrics_ != nullptr && metrics_->DrawCycle(); }
  bool DrawPreEnqueue() const { return metrics_ != nullptr && metrics_->DrawPreEnqueue(); }

 private:
  FrameworkMetrics* const metrics_;
  ProfileMetrics* const profile_;
  const Clock& clock_;
};

}  // namespace ks::framework
