// SPDX-License-Identifier: Apache-2.0
#include "sim/nomination_watch.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "sim/process.h"

namespace ks::sim {
namespace {

bool IsNominated(const api::Pod& pod) {
  return pod.node_name.empty() && !pod.status.nominated_node_name.empty();
}

}  // namespace

void NominationWatch::Heard(const std::vector<api::Delta<api::Pod>>& deltas) {
  using Type = api::Delta<api::Pod>::Type;
  const View<api::Pod>& known = process_.pods();
  const auto changed = [this, &known](const api::PodPtr& pod) {
    const auto before = known.find(pod->meta.Key());
    if (before == known.end() || !IsNominated(*before->second)) return;
    const bool same = before->second->meta.uid == pod->meta.uid;
    if (same && (!pod->node_name.empty() ||
                 pod->status.nominated_node_name == before->second->status.nominated_node_name)) {
      return;
    }
    Freed(before->second);
  };
  for (const api::Delta<api::Pod>& delta : deltas) {
    if (delta.type == Type::kUpsert) changed(delta.object);
    if (delta.type == Type::kDelete && known.contains(delta.object->meta.Key()) &&
        IsNominated(*delta.object)) {
      Freed(delta.object);
    }
    if (delta.type != Type::kReplace) continue;
    std::set<std::string> listed;
    for (const api::PodPtr& pod : delta.items) {
      listed.insert(pod->meta.Key());
      changed(pod);
    }
    for (const auto& [key, pod] : known) {
      if (!listed.contains(key) && IsNominated(*pod)) Freed(pod);
    }
  }
}

// The room of a pod that was on its way to a node has been given up.
void NominationWatch::Freed(const api::PodPtr& nominated) {
  scheduler::Scheduler& scheduler = process_.scheduler();
  if (!process_.IsOurs(*nominated) || scheduler.context().cluster.cache.IsAssumedPod(*nominated))
    return;
  for (const auto& queued :
       scheduler.context().queue.stores().PodsIn(queue::Store::kUnschedulable)) {
    const api::Pod& pod = *queued->pod();
    const bool wants_room = queued->gating_plugin.empty() && pod.node_name.empty() &&
                            queued->unschedulable_plugins.contains("NodeResourcesFit");
    if (!wants_room || pod.Priority() > nominated->Priority()) continue;
    if (pod.meta.uid == nominated->meta.uid) continue;
    sleepers_.push_back({pod.meta.Key(), pod.meta.uid, queued->timestamp, nominated});
  }
}

std::string NominationWatch::AfterStep() {
  const queue::SchedulingQueue& queue = process_.scheduler().context().queue;
  for (const Sleeper& sleeper : std::exchange(sleepers_, {})) {
    const framework::QueuedPod* queued = queue.stores().FindPod(sleeper.key);
    if (queued == nullptr || queued->pod()->meta.uid != sleeper.uid) continue;
    // Held back now, or tried meanwhile, it has been woken.
    if (queue.stores().StoreOf(sleeper.key) != queue::Store::kUnschedulable ||
        !queued->gating_plugin.empty() || queued->timestamp != sleeper.since ||
        process_.scheduler().context().cluster.cache.IsAssumedPod(*sleeper.nominated)) {
      continue;
    }
    return fmt::format("pod {} sleeps on although the nomination of {} to {} was given up",
                       sleeper.key, sleeper.nominated->meta.name,
                       sleeper.nominated->status.nominated_node_name);
  }
  return {};
}

}  // namespace ks::sim
