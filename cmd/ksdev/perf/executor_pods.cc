// SPDX-License-Identifier: Apache-2.0
// Creating pods and waiting for them.
#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <set>

#include "ksdev/perf/executor.h"

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;
using std::chrono::steady_clock;

// Claim and volume with their statuses, which creation does not keep.
Result<void> CreateVolumes(ObjectClient& objects, const VolumePair& pair, const std::string& ns) {
  if (const Result<Json> made = objects.Create(pair.claim, ns); !made.ok()) return made.error();
  if (Result<void> set = objects.Update(pair.claim, ns, "status"); !set.ok()) return set;
  if (const Result<Json> made = objects.Create(pair.volume, ""); !made.ok()) return made.error();
  return objects.Update(pair.volume, "", "status");
}

}  // namespace

Result<void> Executor::CreateOne(const PodObjects& objects, const std::string& ns, size_t index,
                                 size_t count) {
  if (objects.has_volumes()) {
    const Result<VolumePair> pair = objects.Volumes(index, count);
    if (!pair.ok()) return pair.error();
    if (Result<void> made = CreateVolumes(objects_, *pair, ns); !made.ok()) return made;
  }
  const Result<Json> pod = objects.Pod(index, count);
  if (!pod.ok()) return pod.error();
  const Result<Json> made = objects_.Create(*pod, ns);
  return made.ok() ? Result<void>() : Result<void>(made.error());
}

Result<void> Executor::CreateMany(const PodObjects& objects, const std::string& ns, size_t count) {
  return InParallel(count, kWorkers, [&](size_t i) { return CreateOne(objects, ns, i, count); });
}

Result<void> Executor::Do(const CreatePods& pods, size_t index) {
  const std::string ns = pods.ns ? *pods.ns : fmt::format("namespace-{}", index);
  if (Result<void> there = objects_.EnsureNamespace(ns); !there.ok()) return there;
  const auto objects = PodObjects::Make(pods, options_.perf_case.pod_template, ns);
  if (!objects.ok()) return objects.error();
  const PodSelection selection{.namespaces = {ns}, .labels = {}};
  if (pods.collect_metrics) {
    if (Result<void> started = collector_.Start(ns, selection); !started.ok()) return started;
  }
  Result<void> done =
      pods.steady_state ? KeepSteady(*objects, ns, pods) : CreateMany(*objects, ns, pods.count);
  if (!done.ok()) return done;
  if (pods.skip_wait) {
    awaited_[ns] += pods.count;
  } else if (!pods.steady_state) {
    done = Await(selection, pods.count, false);
    if (!done.ok()) return done;
  }
  return pods.collect_metrics ? collector_.Stop() : Result<void>();
}

// Each pod that is scheduled is deleted and another created, so that `count` wait always.
Result<void> Executor::KeepSteady(const PodObjects& objects, const std::string& ns,
                                  const CreatePods& pods) {
  constexpr size_t kHands = 4;
  const SteadyTime end = steady_clock::now() + pods.duration;
  pods_.Follow(ns);
  if (Result<void> made = CreateMany(objects, ns, pods.count); !made.ok()) return made;
  std::atomic<size_t> scheduled{0};
  Result<void> done = InParallel(kHands, kHands, [&](size_t) -> Result<void> {
    while (const std::optional<std::string> name = pods_.TakeScheduled(end)) {
      ++scheduled;
      const std::string target = fmt::format(
          "/api/v1/namespaces/{}/pods/{}?gracePeriodSeconds=0&propagationPolicy=Background", ns,
          *name);
      if (Result<void> deleted = objects_.DeleteAt(target); !deleted.ok()) return deleted;
      if (Result<void> made = CreateOne(objects, ns, 0, 1); !made.ok()) return made;
      if (steady_clock::now() >= end) break;
    }
    return {};
  });
  pods_.Follow("");
  if (!done.ok()) return done;
  return scheduled > 0 ? Result<void>() : Result<void>(Error{"no pod at all was scheduled"});
}

Result<void> Executor::Await(const PodSelection& selection, size_t count, bool attempted) {
  constexpr std::chrono::milliseconds kPause{100};
  const SteadyTime deadline = steady_clock::now() + options_.timeout;
  while (true) {
    const PodCounts counts = pods_.Counts(selection);
    const size_t there = counts.scheduled + (attempted ? counts.attempted : 0);
    if (there >= count) return {};
    const bool ended = scheduler_.process().WaitFor(kPause);
    if (!ended && steady_clock::now() < deadline) continue;
    const std::string what =
        fmt::format("{} of {} pods of {} were {}; {}; one that waits: {}", there, count,
                    fmt::join(selection.namespaces, ", "), attempted ? "tried" : "scheduled",
                    ended ? "the scheduler ended" : "it took too long", counts.waiting);
    return ended ? scheduler_.WithLog(what) : Error{what};
  }
}

Result<void> Executor::Do(const Barrier& barrier, size_t) {
  std::set<std::string> namespaces(barrier.namespaces.begin(), barrier.namespaces.end());
  if (namespaces.empty()) {
    for (const auto& [ns, count] : awaited_) namespaces.insert(ns);
  }
  for (const std::string& ns : namespaces) {
    const auto awaited = awaited_.find(ns);
    if (awaited == awaited_.end()) continue;
    const PodSelection selection{.namespaces = {ns}, .labels = barrier.labels};
    if (Result<void> done = Await(selection, awaited->second, barrier.attempted); !done.ok()) {
      return done;
    }
    if (!barrier.attempted) awaited_.erase(ns);
  }
  return {};
}

}  // namespace ks::ctl::dev::perf
