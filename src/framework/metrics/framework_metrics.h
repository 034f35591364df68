// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the framework tells /metrics: how long points and plugins take, how often plugins are asked,
// how long Permit holds pods. Made to cost next to nothing in a cycle that is not sampled.
//
// Upstream: docs/spec/framework.md section 12, docs/spec/metrics.md 3.3 and 3.10.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "framework/metrics/device_metrics.h"
#include "framework/metrics/point_observer.h"
#include "framework/metrics/preemption_metrics.h"
#include "framework/metrics/volume_metrics.h"
#include "framework/status.h"
#include "metrics/registry.h"

namespace ks::framework {

// The values of the label `extension_point`.
enum class MetricPoint : uint8_t {
  kPreEnqueue,
  kSign,
  kPreFilter,
  kAddPod,     // "PreFilterExtensionAddPod", plugins only
  kRemovePod,  // "PreFilterExtensionRemovePod", plugins only
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kNormalize,  // "ScoreExtensionNormalize", plugins only
  kReserve,
  kUnreserve,
  kPermit,
  kPreBindPreFlight,
  kPreBind,
  kBind,
  kPostBind,
  kPlacementGenerate,
  kPlacementFeasible,
  kPlacementScore,
  kPlacementNormalize,  // "PlacementScoreExtensionNormalize", plugins only
  kPodGroupPostFilter,
  kCount,
};
std::string_view MetricPointText(MetricPoint point);

inline constexpr size_t kCodes = 7;  // values of Code

// One plugin at one point: what a sample belongs to. Made and kept by FrameworkMetrics.
class PluginMeter {
 public:
  PluginMeter(std::string plugin, MetricPoint point) : plugin_(std::move(plugin)), point_(point) {}

  const std::string& plugin() const { return plugin_; }
  MetricPoint point() const { return point_; }

 private:
  friend class FrameworkMetrics;
  const std::string plugin_;
  const MetricPoint point_;
  // Null until the first flushed sample of that code. Under the sample mutex of FrameworkMetrics.
  std::array<metrics::Histogram*, kCodes> series_{};
};

// scheduler_framework_extension_point_duration_seconds of one profile. Threads: any.
class ProfileMetrics {
 public:
  ProfileMetrics(metrics::Family<metrics::Histogram>& family, std::string profile)
      : family_(family), profile_(std::move(profile)) {}

  // One run of a point with all its plugins.
  void Observe(MetricPoint point, Code code, Duration duration);

 private:
  metrics::Family<metrics::Histogram>& family_;
  const std::string profile_;
  // Series appear with their first observation.
  std::array<std::array<std::atomic<metrics::Histogram*>, kCodes>,
             static_cast<size_t>(MetricPoint::kCount)>
      series_{};
};

// A running measurement of one run of a point. Measures nothing when made without metrics and
// without an observer.
class PointTimer {
 public:
  PointTimer() = default;
  // All outlive the timer and its copies; metrics and observer may be null.
  PointTimer(ProfileMetrics* metrics, const Clock* clock, MetricPoint point,
             PointObserver* observer = nullptr)
      : metrics_(metrics),
        clock_(clock),
        observer_(observer),
        point_(point),
        start_(metrics == nullptr ? TimePoint() : clock->Now()),
        observed_start_(observer == nullptr ? TimePoint() : observer->Now()) {}

  // The point has run with this outcome. Threads: any; with an observer the one that made it.
  void Stop(Code code) const {
    if (metrics_ != nullptr) metrics_->Observe(point_, code, clock_->Now() - start_);
    if (observer_ != nullptr) observer_->PointRan(point_, code, observed_start_);
  }

 private:
  ProfileMetrics* metrics_ = nullptr;
  const Clock* clock_ = nullptr;
  PointObserver* observer_ = nullptr;
  MetricPoint point_ = MetricPoint::kCount;
  TimePoint start_;
  TimePoint observed_start_;
};

// One for all profiles; outlives their frameworks, so that a configuration exchanged at run time
// goes on counting where the old one stopped. What it hands out lives as long as it does.
//
// Threads: any, unless said otherwise. Lifetime: `registry` and `clock` outlive it; no Text() of
// the registry runs while it is destroyed.
class FrameworkMetrics {
 public:
  static constexpr uint64_t kSampledPercent = 10;
  static constexpr size_t kBufferedSamples = 1000;
  static constexpr Duration kFlushInterval = std::chrono::seconds(1);

  // `seed`: of the draws. They have a random source of their own: measuring must not change
  // decisions.
  FrameworkMetrics(metrics::Registry& registry, const Clock& clock, uint64_t seed = 0);

  ProfileMetrics& ForProfile(const std::string& profile) KS_EXCLUDES(mutex_);
  PluginMeter& Meter(std::string_view plugin, MetricPoint point) KS_EXCLUDES(mutex_);
  // scheduler_plugin_evaluation_total; shown with 0 from now on.
  metrics::Counter& Evaluations(std::string_view plugin, MetricPoint point,
                                const std::string& profile);

  // Whether the plugin calls of a new cycle are measured. Threads: the scheduling thread.
  bool DrawCycle() KS_EXCLUDES(sample_mutex_);
  // The same for one pod that is tried into the queue. Threads: the scheduling thread.
  bool DrawPreEnqueue() KS_EXCLUDES(sample_mutex_);

  // scheduler_plugin_execution_duration_seconds. Samples are buffered until the next flush, which
  // comes with the first drawn cycle or pod a second after the last one and with each Text of the
  // registry; those that do not fit are dropped.
  void Sample(PluginMeter& meter, Code code, Duration duration) KS_EXCLUDES(sample_mutex_);
  // False when a sample would be dropped: not worth measuring.
  bool TakesSamples() const { return buffered_.load(std::memory_order_relaxed) < kBufferedSamples; }
  void Flush() KS_EXCLUDES(sample_mutex_);

  // scheduler_permit_wait_duration_seconds: the pod really waited.
  void ObservePermitWait(Code result, Duration duration);

  PreemptionMetrics& preemption() { return preemption_; }
  VolumeMetrics& volumes() { return volumes_; }
  DeviceMetrics& devices() { return devices_; }

 private:
  struct BufferedSample {
    PluginMeter* meter;
    Code code;
    Duration duration;
  };

  void FlushIfDue() KS_EXCLUDES(sample_mutex_);
  void FlushLocked() KS_REQUIRES(sample_mutex_);

  const Clock& clock_;
  metrics::Family<metrics::Histogram>& point_durations_;
  metrics::Family<metrics::Histogram>& plugin_durations_;
  metrics::Family<metrics::Counter>& evaluations_;
  metrics::Family<metrics::Histogram>& permit_waits_;
  PreemptionMetrics preemption_;
  VolumeMetrics volumes_;
  DeviceMetrics devices_;
  const std::vector<double> plugin_buckets_;
  Random cycle_draws_;
  Random pre_enqueue_draws_;

  Mutex mutex_;
  std::map<std::string, std::unique_ptr<ProfileMetrics>, std::less<>> profiles_
      KS_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, MetricPoint>, std::unique_ptr<PluginMeter>> meters_
      KS_GUARDED_BY(mutex_);

  std::atomic<size_t> buffered_{0};
  Mutex sample_mutex_;
  std::vector<BufferedSample> samples_ KS_GUARDED_BY(sample_mutex_);
  TimePoint last_flush_ KS_GUARDED_BY(sample_mutex_);

  std::shared_ptr<void> before_text_;  // last: flushes at each Text
};

// Measures the plugin calls of one cycle; an empty one measures nothing.
class CallSampler {
 public:
  CallSampler() = default;
  // All outlive the sampler and its copies; metrics and observer may be null.
  CallSampler(FrameworkMetrics* metrics, const Clock& clock, PointObserver* observer = nullptr)
      : metrics_(metrics), observer_(observer), clock_(&clock) {}

  bool empty() const { return metrics_ == nullptr && observer_ == nullptr; }
  // Not empty, and a sample would be kept.
  bool measures() const {
    return (metrics_ != nullptr && metrics_->TakesSamples()) || observer_ != nullptr;
  }
  TimePoint Now() const { return empty() ? TimePoint() : clock_->Now(); }
  // For the metrics. Threads: any.
  void Record(PluginMeter* meter, Code code, Duration duration) const {
    if (metrics_ != nullptr) metrics_->Sample(*meter, code, duration);
  }

  // The observer is told of many calls at once by those who make them.
  bool observed() const { return observer_ != nullptr; }
  TimePoint ObservedNow() const { return observed() ? observer_->Now() : TimePoint(); }
  void TellObserver(const PluginMeter* meter, TimePoint start, Duration took) const {
    if (observed() && meter != nullptr) {
      observer_->PluginsRan(meter->plugin(), meter->point(), start, took);
    }
  }
  // The same for the metrics alone.
  CallSampler Unobserved() const {
    return metrics_ == nullptr ? CallSampler() : CallSampler(metrics_, *clock_);
  }

  // Makes one call of the plugin, whose answer CodeOf understands.
  template <class Call>
  auto Measure(PluginMeter* meter, const Call& call) const {
    if (!measures()) [[likely]] {
      return call();
    }
    const TimePoint seen = ObservedNow();
    const TimePoint start = clock_->Now();
    auto answer = call();
    Record(meter, CodeOf(answer), clock_->Now() - start);
    TellObserver(meter, seen, ObservedNow() - seen);
    return answer;
  }
  // The same for a call without answer.
  template <class Call>
  void MeasureSuccess(PluginMeter* meter, const Call& call) const {
    const TimePoint seen = ObservedNow();
    const TimePoint start = Now();
    call();
    Record(meter, Code::kSuccess, Now() - start);
    TellObserver(meter, seen, ObservedNow() - seen);
  }

 private:
  static Code CodeOf(const Status& status) { return status.code(); }
  template <class Answer>
  static Code CodeOf(const Answer& answer) {
    return answer.status.code();
  }

  FrameworkMetrics* metrics_ = nullptr;
  PointObserver* observer_ = nullptr;
  const Clock* clock_ = nullptr;
};

}  // namespace ks::framework
