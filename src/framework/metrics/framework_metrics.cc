// SPDX-License-Identifier: Apache-2.0
#include "framework/metrics/framework_metrics.h"

#include "base/check.h"
#include "golang/durations.h"

namespace ks::framework {
namespace {

using metrics::Stability;

constexpr std::array<std::string_view, static_cast<size_t>(MetricPoint::kCount)> kPointTexts = {
    "PreEnqueue",
    "Sign",
    "PreFilter",
    "PreFilterExtensionAddPod",
    "PreFilterExtensionRemovePod",
    "Filter",
    "PostFilter",
    "PreScore",
    "Score",
    "ScoreExtensionNormalize",
    "Reserve",
    "Unreserve",
    "Permit",
    "PreBindPreFlight",
    "PreBind",
    "Bind",
    "PostBind",
    "PlacementGenerate",
    "PlacementFeasible",
    "PlacementScore",
    "PlacementScoreExtensionNormalize",
    "PodGroupPostFilter",
};

const std::vector<double>& PointBuckets() {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.0001, 2, 12);
  return buckets;
}

}  // namespace

std::string_view MetricPointText(MetricPoint point) {
  return kPointTexts.at(static_cast<size_t>(point));
}

void ProfileMetrics::Observe(MetricPoint point, Code code, Duration duration) {
  auto& slot = series_[static_cast<size_t>(point)][static_cast<size_t>(code)];
  metrics::Histogram* series = slot.load(std::memory_order_acquire);
  if (series == nullptr) {
    // Equal labels give the same series, whichever thread is first.
    series = &family_.Add({{"extension_point", std::string(MetricPointText(point))},
                           {"status", std::string(CodeText(code))},
                           {"profile", profile_}},
                          PointBuckets());
    slot.store(series, std::memory_order_release);
  }
  series->Observe(golang::Seconds(duration));
}

FrameworkMetrics::FrameworkMetrics(metrics::Registry& registry, const Clock& clock, uint64_t seed)
    : clock_(clock),
      point_durations_(
          registry.AddHistogram({.name = "scheduler_framework_extension_point_duration_seconds",
                                 .stability = Stability::kStable,
                                 .help = "Time of one extension point with all its plugins."})),
      plugin_durations_(registry.AddHistogram(
          {.name = "scheduler_plugin_execution_duration_seconds",
           .stability = Stability::kBeta,
           .help = "Time of one plugin call at one extension point, sampled."})),
      evaluations_(
          registry.AddCounter({.name = "scheduler_plugin_evaluation_total",
                               .stability = Stability::kBeta,
                               .help = "Plugin calls at PreFilter, Filter, PreScore and Score."})),
      permit_waits_(registry.AddHistogram({.name = "scheduler_permit_wait_duration_seconds",
                                           .stability = Stability::kBeta,
                                           .help = "Time a pod was held by Permit."})),
      preemption_(registry),
      volumes_(registry),
      devices_(registry),
      plugin_buckets_(metrics::ExponentialBuckets(0.00001, 1.5, 20)),
      cycle_draws_(seed),
      pre_enqueue_draws_(~seed),
      last_flush_(clock.Now()),
      before_text_(registry.BeforeText([this] { Flush(); })) {
  samples_.reserve(kBufferedSamples);
}

ProfileMetrics& FrameworkMetrics::ForProfile(const std::string& profile) {
  MutexLock lock(mutex_);
  auto& entry = profiles_[profile];
  if (entry == nullptr) entry = std::make_unique<ProfileMetrics>(point_durations_, profile);
  return *entry;
}

PluginMeter& FrameworkMetrics::Meter(std::string_view plugin, MetricPoint point) {
  MutexLock lock(mutex_);
  auto& entry = meters_[{std::string(plugin), point}];
  if (entry == nullptr) entry = std::make_unique<PluginMeter>(std::string(plugin), point);
  return *entry;
}

metrics::Counter& FrameworkMetrics::Evaluations(std::string_view plugin, MetricPoint point,
                                                const std::string& profile) {
  return evaluations_.Add({{"plugin", std::string(plugin)},
                           {"extension_point", std::string(MetricPointText(point))},
                           {"profile", profile}});
}

bool FrameworkMetrics::DrawCycle() {
  if (cycle_draws_.Below(100) >= kSampledPercent) return false;
  FlushIfDue();
  return true;
}

bool FrameworkMetrics::DrawPreEnqueue() {
  if (pre_enqueue_draws_.Below(100) >= kSampledPercent) return false;
  FlushIfDue();
  return true;
}

void FrameworkMetrics::Sample(PluginMeter& meter, Code code, Duration duration) {
  if (!TakesSamples()) return;
  MutexLock lock(sample_mutex_);
  if (samples_.size() >= kBufferedSamples) return;
  samples_.push_back({&meter, code, duration});
  buffered_.store(samples_.size(), std::memory_order_relaxed);
}

void FrameworkMetrics::Flush() {
  MutexLock lock(sample_mutex_);
  FlushLocked();
}

void FrameworkMetrics::FlushIfDue() {
  MutexLock lock(sample_mutex_);
  if (clock_.Now() - last_flush_ >= kFlushInterval) FlushLocked();
}

void FrameworkMetrics::FlushLocked() {
  last_flush_ = clock_.Now();
  for (const BufferedSample& sample : samples_) {
    PluginMeter& meter = *sample.meter;
    metrics::Histogram*& series = meter.series_[static_cast<size_t>(sample.code)];
    if (series == nullptr) {
      series =
          &plugin_durations_.Add({{"plugin", meter.plugin_},
                                  {"extension_point", std::string(MetricPointText(meter.point_))},
                                  {"status", std::string(CodeText(sample.code))}},
                                 plugin_buckets_);
    }
    series->Observe(golang::Seconds(sample.duration));
  }
  samples_.clear();
  buffered_.store(0, std::memory_order_relaxed);
}

void FrameworkMetrics::ObservePermitWait(Code result, Duration duration) {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.001, 2, 15);
  permit_waits_.Add({{"result", std::string(CodeText(result))}}, buckets)
      .Observe(golang::Seconds(duration));
}

}  // namespace ks::framework
