// SPDX-License-Identifier: Apache-2.0
#pragma once
// The spans of one attempt of one pod: the attempt itself, its extension points, plugins that took
// long, and the steps that wait (Permit's verdict, PreBind, Bind).

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "framework/metrics/point_observer.h"
#include "framework/status.h"
#include "tracing/span.h"

namespace ks::tracing {

// How an attempt ended.
struct AttemptEnd {
  std::string_view result;          // "scheduled", "unschedulable", "error"
  std::string_view message = {};    // of a failure
  std::string_view node = {};       // that was chosen; empty: none
  std::string_view nominated = {};  // the node where room is made; empty: none
  size_t evaluated_nodes = 0;
  size_t feasible_nodes = 0;
};

// Threads: the scheduling thread; PluginsRan any. Lifetime: clock and sink outlive it.
class AttemptSpans final : public framework::PointObserver {
 public:
  // Plugins that took at least so long at a point have a span.
  static constexpr Duration kSlowPlugin = std::chrono::milliseconds(1);

  // `root`: of the pod's trace. `number`: of the attempt, from 1.
  AttemptSpans(const Clock& clock, SpanSink& sink, const SpanContext& root, int64_t number,
               TimePoint start);

  TimePoint Now() const override { return clock_.Now(); }
  void PointRan(framework::MetricPoint point, framework::Code code, TimePoint start) override
      KS_EXCLUDES(mutex_);
  void PluginsRan(std::string_view plugin, framework::MetricPoint point, TimePoint start,
                  Duration took) override KS_EXCLUDES(mutex_);
  void Within(const std::function<void()>& calls) override;

  // A step that ends later, one at a time: "WaitOnPermit", "PreBind", "Bind". The name is of static
  // lifetime.
  void BeginStep(std::string_view name);
  // Nothing when no step runs.
  void EndStep(const framework::Status& status) KS_EXCLUDES(mutex_);
  // That calls made now belong to: the step's, or else the attempt's.
  const SpanContext& current() const { return step_.context.valid() ? step_.context : attempt_; }

  // Hands over the attempt's own span. Once; nothing is told after it but PostBind's run.
  void End(const AttemptEnd& end);

 private:
  struct Step {
    std::string_view name;
    SpanContext context{};  // not valid: none runs
    TimePoint start{};
  };
  struct PluginTime {
    std::string_view plugin;
    framework::MetricPoint point;
    TimePoint start;
    Duration took;
  };
  Span Child(const SpanContext& parent, std::string name, TimePoint start) const;
  std::vector<PluginTime> TakeSlow() KS_EXCLUDES(mutex_);
  void AddSlow(const SpanContext& parent) KS_EXCLUDES(mutex_);

  const Clock& clock_;
  SpanSink& sink_;
  const uint64_t root_;
  const int64_t number_;
  const SpanContext attempt_;
  const TimePoint start_;
  Step step_;

  Mutex mutex_;
  std::vector<PluginTime> plugins_ KS_GUARDED_BY(mutex_);  // of the point or step that runs
};

}  // namespace ks::tracing
