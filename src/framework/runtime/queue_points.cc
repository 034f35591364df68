// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/queue_points.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "golang/quote.h"

namespace ks::framework {
namespace {

// The one place where a PreEnqueue plugin is called.
Status CallPreEnqueue(const PointEntry<PreEnqueuePlugin>& entry, const CallSampler& sampler,
                      const api::Pod& pod) {
  Status status = sampler.Measure(entry.meter, [&] { return entry.plugin->PreEnqueue(pod); });
  return status.ok() ? status : status.WithPlugin(entry.name);
}

// `{"key":value,…}` with sorted keys. Plugins that give the same key give the same value.
std::string SignatureText(const std::vector<SignFragment>& fragments) {
  std::map<std::string_view, std::string_view> sorted;
  for (const SignFragment& fragment : fragments) sorted.emplace(fragment.key, fragment.value);
  std::string text = "{";
  for (const auto& [key, value] : sorted) {
    if (text.size() > 1) text += ',';
    text += golang::Quote(key);
    text += ':';
    text += value;
  }
  return text += '}';
}

}  // namespace

bool QueuePoints::QueueSortLess(const QueuedEntity& a, const QueuedEntity& b) const {
  return lists_.queue_sort->Less(a, b);
}

Status QueuePoints::RunPreEnqueuePlugins(const api::Pod& pod, std::string_view first) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPreEnqueue);
  Status status = AskPreEnqueues(pod, first);
  timer.Stop(Code::kSuccess);  // whatever the status: upstream's series say so
  return status;
}

Status QueuePoints::AskPreEnqueues(const api::Pod& pod, std::string_view first) const {
  const CallSampler sampler = meters_.Sampler(meters_.DrawPreEnqueue());
  const auto& list = lists_.pre_enqueue;
  const auto last_gate =
      first.empty() ? list.end() : std::find_if(list.begin(), list.end(), [&](const auto& entry) {
        return entry.name == first;
      });
  if (last_gate != list.end()) {
    if (Status status = CallPreEnqueue(*last_gate, sampler, pod); !status.ok()) return status;
  }
  for (auto entry = list.begin(); entry != list.end(); ++entry) {
    if (entry == last_gate) continue;
    if (Status status = CallPreEnqueue(*entry, sampler, pod); !status.ok()) return status;
  }
  return {};
}

bool QueuePoints::GateChangesAlone(const api::Pod& pod) const {
  return std::any_of(
      lists_.pre_enqueue.begin(), lists_.pre_enqueue.end(),
      [&pod](const auto& entry) { return entry.plugin->ScopeOf(pod) == GateScope::kAny; });
}

bool QueuePoints::PostFiltersAreIdle(const api::Pod& pod, std::string_view freed) const {
  return std::all_of(lists_.post_filter.begin(), lists_.post_filter.end(),
                     [&](const auto& entry) { return entry.plugin->IsIdle(pod, freed); });
}

SignOutcome QueuePoints::SignPod(const api::Pod& pod) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kSign);
  SignOutcome outcome = MergeFragments(pod);
  timer.Stop(Code::kSuccess);  // as PreEnqueue
  return outcome;
}

bool QueuePoints::SignsPods() const {
  return std::all_of(lists_.sign.begin(), lists_.sign.end(), [](const auto& entry) {
    return entry.plugin != nullptr && entry.plugin->SignsPods();
  });
}

SignOutcome QueuePoints::MergeFragments(const api::Pod& pod) const {
  const CallSampler sampler = meters_.Sampler(true);
  for (const PointEntry<const SignPlugin>& entry : lists_.sign) {
    if (entry.plugin != nullptr) continue;
    return {Status(Code::kUnschedulable, {"plugin cannot sign pods"}, std::string(entry.name)), {}};
  }
  std::vector<SignFragment> fragments;
  for (const PointEntry<const SignPlugin>& entry : lists_.sign) {
    const Status status =
        sampler.Measure(entry.meter, [&] { return entry.plugin->Sign(pod, &fragments); });
    if (!status.ok()) return {status.WithPlugin(entry.name), {}};
  }
  fragments.push_back({"SchedulerName", golang::Quote(pod.spec->scheduler_name.str())});
  return {Status(), SignatureText(fragments)};
}

}  // namespace ks::framework
