// SPDX-License-Identifier: Apache-2.0
#include "inspect/cluster_copy.h"

#include <memory>

namespace ks::inspect {
namespace {

std::vector<framework::QueuedPodPtr> QueuedMembers(const queue::SchedulingQueue& queue) {
  std::vector<framework::QueuedPodPtr> members;
  queue.stores().ForEach([&](const queue::Record& record) {
    if (record.kind != queue::RecordKind::kMember) return;
    members.push_back(std::make_shared<framework::QueuedPod>(*record.pod));
  });
  return members;
}

}  // namespace

std::variant<ClusterCopy, Refusal> CopyCluster(scheduler::Scheduler& scheduler) {
  if (!scheduler.Synced()) {
    return Refusal{503, "the scheduler has not read the cluster yet; ask again in a moment"};
  }
  cache::Cache& cache = scheduler.context().cluster.cache;
  if (Result<void> refreshed = cache.RefreshSnapshot(); !refreshed.ok()) {
    return Refusal{500, refreshed.error().message};
  }
  const scheduler::SchedulerOptions& options = scheduler.options();
  ClusterCopy copy{.time = options.clock->Now(),
                   .configuration = options.configuration,
                   .registry = options.registry,
                   .clock = options.clock,
                   .gates = options.gates};
  copy.nodes.reserve(cache.nodes().size());
  copy.pods.reserve(cache.counts().pods);
  for (const framework::NodeInfo* node : cache.nodes()) {
    copy.nodes.push_back(node->node_ptr());
    for (const framework::PodInfoPtr& pod : node->pods()) copy.pods.push_back(pod->ptr());
  }
  const queue::PodNominator& nominator = scheduler.context().queue.nominator();
  nominator.ForEachNominatedNode([&](std::string_view node) {
    const auto pods = nominator.NominatedPodsForNode(node);
    copy.nominated.emplace(node, std::vector<framework::PodInfoPtr>(pods.begin(), pods.end()));
  });
  copy.owners = scheduler.context().cluster.owners;
  copy.storage = scheduler.context().cluster.storage;
  copy.devices = scheduler.context().cluster.devices;
  copy.groups = scheduler.context().cluster.groups;
  copy.members = QueuedMembers(scheduler.context().queue);
  return copy;
}

}  // namespace ks::inspect
