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

// Parked, and held back by nothing: a member of a group stands or falls with the group.
bool Sleeps(const queue::Record& record) {
  return record.pod != nullptr && record.store == queue::Store::kUnschedulable && !record.gated;
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
  scheduler.context().queue.stores().ForEach([&](const queue::Record& record) {
    if (!Sleeps(record)) return;
    const api::Pod& pod = *record.pod->pod();
    const bool wants_room =
        pod.node_name.empty() && record.pod->unschedulable_plugins.contains("NodeResourcesFit");
    if (!wants_room || pod.Priority() > nominated->Priority()) return;
    if (pod.meta.uid == nominated->meta.uid) return;
    sleepers_.push_back({pod.meta.uid, record.pod->timestamp, nominated});
  });
}

std::string NominationWatch::AfterStep() {
  const std::vector<Sleeper> sleepers = std::exchange(sleepers_, {});
  if (sleepers.empty()) return {};
  std::string wrong;
  const scheduler::Context& context = process_.scheduler().context();
  context.queue.stores().ForEach([&](const queue::Record& record) {
    if (!wrong.empty() || !Sleeps(record)) return;
    for (const Sleeper& sleeper : sleepers) {
      // Tried meanwhile, it has been woken.
      if (record.pod->pod()->meta.uid != sleeper.uid || record.pod->timestamp != sleeper.since) {
        continue;
      }
      if (context.cluster.cache.IsAssumedPod(*sleeper.nominated)) continue;
      wrong = fmt::format("pod {} sleeps on although the nomination of {} to {} was given up",
                          record.pod->pod()->meta.Key(), sleeper.nominated->meta.name,
                          sleeper.nominated->status.nominated_node_name.view());
    }
  });
  return wrong;
}

}  // namespace ks::sim
