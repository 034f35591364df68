// SPDX-License-Identifier: Apache-2.0
#include "tracing/pod_traces.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "tracing/sampling.h"

namespace ks::tracing {
namespace {

// Evictions whose end nobody told are forgotten beyond.
constexpr size_t kMostEvictions = 10'000;

void AddPod(const api::Pod& pod, std::vector<Attribute>& attributes) {
  attributes.emplace_back("k8s.pod.name", pod.meta.name);
  attributes.emplace_back("k8s.namespace.name", pod.meta.ns.str());
  attributes.emplace_back("k8s.pod.uid", pod.meta.uid);
}

}  // namespace

bool PodTraces::Records(const SpanContext& context) const {
  return IsSampled(context, per_million_);
}

PodTraces::Entry* PodTraces::Find(const api::Pod& pod) {
  if (pods_.empty()) return nullptr;
  const auto it = pods_.find(pod.meta.uid);
  return it == pods_.end() ? nullptr : &it->second;
}

void PodTraces::Saw(const api::Pod& pod) {
  if (!pod.node_name.empty()) return;  // it runs, and waits for its resize
  const SpanContext root = RootOf(pod.meta.uid);
  if (!Records(root)) return;
  pods_.try_emplace(pod.meta.uid, Entry{.root = root, .start = clock_.Now()});
}

void PodTraces::Waits(const api::Pod& pod, const QueueWait& wait) {
  Entry* entry = Find(pod);
  if (entry == nullptr || entry->wait.queue == wait.queue) return;
  EndWait(*entry, wait.event, wait.plugin);
  entry->wait = {
      .queue = wait.queue, .start = clock_.Now(), .event = wait.event, .plugin = wait.plugin};
}

void PodTraces::EndWait(Entry& entry, const Symbol& by, const Symbol& plugin) {
  const Wait wait = std::exchange(entry.wait, {});
  if (wait.queue.empty() || !leading_) return;
  Span span{.context = {.trace = entry.root.trace, .span = sink_.NewSpanId()},
            .parent = entry.root.span,
            .name = "queue",
            .start = wait.start,
            .end = clock_.Now()};
  span.Add("kubesched.queue", std::string(wait.queue));
  span.Add("kubesched.queue.event", wait.event.str());
  if (!by.empty()) span.Add("kubesched.queue.ended_by", by.str());
  if (!plugin.empty()) span.Add("kubesched.queue.ended_by_plugin", plugin.str());
  sink_.Add(std::move(span));
}

std::unique_ptr<AttemptSpans> PodTraces::Begin(const framework::QueuedPod& queued,
                                               TimePoint start) {
  Entry* entry = Find(*queued.pod());
  if (entry == nullptr) return nullptr;
  EndWait(*entry, {}, {});
  entry->in_attempt = true;
  entry->left = {};
  ++entry->attempts;
  // A round's time stands still while it is recorded; the trace's does not.
  return std::make_unique<AttemptSpans>(clock_, sink_, entry->root, queued.attempts,
                                        std::max(start, entry->start));
}

void PodTraces::Failed(const api::Pod& pod, AttemptSpans& attempt, const AttemptEnd& end) {
  attempt.End(end);
  Entry* entry = Find(pod);
  if (entry == nullptr) return;
  entry->in_attempt = false;
  if (!entry->left.empty()) EndRoot(pod, *entry, entry->left, {});
}

void PodTraces::Bound(const api::Pod& pod, AttemptSpans& attempt, const AttemptEnd& end) {
  attempt.End(end);
  if (Entry* entry = Find(pod)) EndRoot(pod, *entry, "bound", end.node);
}

void PodTraces::Left(const api::Pod& pod, std::string_view result) {
  Entry* entry = Find(pod);
  if (entry == nullptr) return;
  if (entry->in_attempt) {
    entry->left = result;
    return;
  }
  EndWait(*entry, {}, {});
  EndRoot(pod, *entry, result, {});
}

void PodTraces::EndRoot(const api::Pod& pod, Entry& entry, std::string_view result,
                        std::string_view node) {
  Span span{.context = entry.root,
            .parent = 0,
            .name = "pod",
            .start = entry.start,
            .end = clock_.Now(),
            .links = std::move(entry.links)};
  AddPod(pod, span.attributes);
  span.Add("kubesched.scheduler.name", pod.spec->scheduler_name.str());
  span.Add("kubesched.result", std::string(result));
  span.Add("kubesched.attempts", entry.attempts);
  if (!node.empty()) span.Add("k8s.node.name", std::string(node));
  pods_.erase(pod.meta.uid);
  if (leading_) sink_.Add(std::move(span));
}

SpanContext PodTraces::BeginEviction(const api::Pod& victim) {
  const SpanContext root = RootOf(victim.meta.uid);
  if (evictions_.size() >= kMostEvictions) evictions_.clear();
  Eviction& eviction = evictions_[victim.meta.uid];
  eviction.start = clock_.Now();
  if (!Records(root)) return {};
  eviction.context = {.trace = root.trace, .span = sink_.NewSpanId()};
  return eviction.context;
}

// Two spans of the same time that point at each other, in the traces of the two pods; if one of
// them is not recorded, the other one is still told who it was.
void PodTraces::Evicted(const api::Pod& victim, std::string_view preemptor_uid) {
  // Victims that waited at Permit were given up without a call.
  Eviction eviction{.start = clock_.Now()};
  if (const auto it = evictions_.find(victim.meta.uid); it != evictions_.end()) {
    eviction = it->second;
    evictions_.erase(it);
  }
  const SpanContext victim_root = RootOf(victim.meta.uid);
  const bool of_victim = Records(victim_root);
  if (of_victim && !eviction.context.valid()) {
    eviction.context = {.trace = victim_root.trace, .span = sink_.NewSpanId()};
  }
  const SpanContext root = RootOf(preemptor_uid);
  const bool of_preemptor = Records(root);
  const SpanContext evict{.trace = root.trace,
                          .span = of_preemptor ? sink_.NewSpanId() : uint64_t{0}};
  if (of_preemptor) {
    Span span{.context = evict,
              .parent = root.span,
              .name = "evict",
              .start = eviction.start,
              .end = clock_.Now()};
    AddPod(victim, span.attributes);
    span.Add("k8s.node.name", victim.node_name.str());
    if (of_victim) span.links.push_back({.to = eviction.context});
    sink_.Add(std::move(span));
  }
  if (!of_victim) return;
  Span span{.context = eviction.context,
            .parent = victim_root.span,
            .name = "preempted",
            .start = eviction.start,
            .end = clock_.Now()};
  AddPod(victim, span.attributes);
  span.Add("k8s.node.name", victim.node_name.str());
  span.Add("kubesched.preemptor.uid", std::string(preemptor_uid));
  if (of_preemptor) span.links.push_back({.to = evict});
  sink_.Add(std::move(span));
}

void AttemptScope::Enter(AttemptSpans* attempt) {
  former_ = std::exchange(traces_->watch().observer, attempt);
  calls_.emplace(attempt == nullptr ? SpanContext() : attempt->current());
}

void AttemptScope::Leave() { traces_->watch().observer = former_; }

}  // namespace ks::tracing
