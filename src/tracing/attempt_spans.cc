// SPDX-License-Identifier: Apache-2.0
#include "tracing/attempt_spans.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "framework/metrics/framework_metrics.h"

namespace ks::tracing {
namespace {

using framework::Code;
using framework::CodeText;
using framework::MetricPoint;

SpanContext NewSpan(const SpanContext& parent, SpanSink& sink) {
  return {.trace = parent.trace, .span = sink.NewSpanId()};
}

}  // namespace

AttemptSpans::AttemptSpans(const Clock& clock, SpanSink& sink, const SpanContext& root,
                           int64_t number, TimePoint start)
    : clock_(clock),
      sink_(sink),
      root_(root.span),
      number_(number),
      attempt_(NewSpan(root, sink)),
      start_(start) {}

Span AttemptSpans::Child(const SpanContext& parent, std::string name, TimePoint start) const {
  return {.context = NewSpan(parent, sink_),
          .parent = parent.span,
          .name = std::move(name),
          .start = start,
          .end = clock_.Now()};
}

void AttemptSpans::PluginsRan(std::string_view plugin, MetricPoint point, TimePoint start,
                              Duration took) {
  if (took <= Duration::zero()) return;
  MutexLock lock(mutex_);
  const auto known = std::find_if(plugins_.begin(), plugins_.end(), [&](const PluginTime& one) {
    return one.point == point && one.plugin == plugin;
  });
  if (known == plugins_.end()) {
    plugins_.push_back({plugin, point, start, took});
  } else {
    known->start = std::min(known->start, start);
    known->took += took;
  }
}

// Of all that ran within the point: PostFilter asks filters, too.
std::vector<AttemptSpans::PluginTime> AttemptSpans::TakeSlow() {
  std::vector<PluginTime> taken;
  MutexLock lock(mutex_);
  taken.swap(plugins_);
  std::erase_if(taken, [](const PluginTime& one) { return one.took < kSlowPlugin; });
  return taken;
}

void AttemptSpans::AddSlow(const SpanContext& parent) {
  for (const PluginTime& slow : TakeSlow()) {
    std::string name(framework::MetricPointText(slow.point));
    Span plugin = Child(parent, name.append("/").append(slow.plugin), slow.start);
    // Calls for many nodes are many: how long they took together.
    plugin.end = slow.start + slow.took;
    plugin.Add("kubesched.plugin", std::string(slow.plugin));
    sink_.Add(std::move(plugin));
  }
}

void AttemptSpans::Within(const std::function<void()>& calls) {
  const CurrentSpanScope scope(current());
  calls();
}

void AttemptSpans::PointRan(MetricPoint point, Code code, TimePoint start) {
  Span span = Child(current(), std::string(framework::MetricPointText(point)), start);
  span.Add("kubesched.status", std::string(CodeText(code)));
  span.failed = code == Code::kError;
  AddSlow(span.context);
  sink_.Add(std::move(span));
}

void AttemptSpans::BeginStep(std::string_view name) {
  KS_CHECK(!step_.context.valid(), "a step of an attempt begins within another");
  step_ = {.name = name, .context = NewSpan(attempt_, sink_), .start = clock_.Now()};
}

void AttemptSpans::EndStep(const framework::Status& status) {
  if (!step_.context.valid()) return;
  const Step step = std::exchange(step_, {});
  AddSlow(step.context);
  Span span{.context = step.context,
            .parent = attempt_.span,
            .name = std::string(step.name),
            .start = step.start,
            .end = clock_.Now()};
  span.Add("kubesched.status", std::string(CodeText(status.code())));
  if (!status.ok()) {
    span.failed = true;
    span.message = status.Message();
  }
  sink_.Add(std::move(span));
}

void AttemptSpans::End(const AttemptEnd& end) {
  Span span{.context = attempt_,
            .parent = root_,
            .name = "attempt",
            .start = start_,
            .end = clock_.Now()};
  span.Add("kubesched.attempt", number_);
  span.Add("kubesched.result", std::string(end.result));
  if (!end.node.empty()) span.Add("k8s.node.name", std::string(end.node));
  if (!end.nominated.empty()) span.Add("kubesched.node.nominated", std::string(end.nominated));
  span.Add("kubesched.nodes.evaluated", static_cast<int64_t>(end.evaluated_nodes));
  span.Add("kubesched.nodes.feasible", static_cast<int64_t>(end.feasible_nodes));
  span.failed = end.result == "error";
  span.message = std::string(end.message);
  if (!end.message.empty()) span.Add("kubesched.message", std::string(end.message));
  sink_.Add(std::move(span));
}

}  // namespace ks::tracing
