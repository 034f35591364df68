// SPDX-License-Identifier: Apache-2.0
#include "scheduler/freed_room.h"

#include <span>
#include <vector>

#include "base/canary.h"
#include "framework/find_pod.h"
#include "framework/nomination.h"
#include "golang/go_arithmetic.h"
#include "plugins/scheduler_rules.h"

namespace ks::scheduler {
namespace {

using framework::NodeInfo;
using framework::Resource;

class FreedRoom {
 public:
  FreedRoom(const Context& context, const NodeInfo& node)
      : context_(context),
        node_(node),
        nominated_(context.nominator.NominatedPodsForNode(node.name())) {}

  bool MayHelp(const framework::QueuedPod& queued) {
    return !AwaitsVictims(queued) || HasRoomFor(*queued.pod());
  }
  bool HelpsWhoAwaitsVictims(const framework::QueuedPod& queued) {
    return AwaitsVictims(queued) && HasRoomFor(*queued.pod());
  }

 private:
  // Whether it is tried only where there is room for it.
  bool AwaitsVictims(const framework::QueuedPod& queued) {
    const api::Pod& pod = *queued.pod();
    if (!plugins::LacksRoomAlone(queued) || !pod.node_name.empty()) return false;
    if (scheduler_name_ != pod.spec->scheduler_name) {
      scheduler_name_ = pod.spec->scheduler_name;
      profile_ = context_.ProfileFor(pod);
    }
    return profile_ != nullptr && profile_->queue_points().PostFiltersAreIdle(pod, node_.name());
  }

  bool HasRoomFor(const api::Pod& pod) {
    if (KS_CANARY(FreedRoomTooSmall)) return false;
    // Waiting pods of one template come one after the other; one that is expected here is no other.
    if (framework::FindPodByUid(nominated_, pod.meta.uid) != nullptr) return Fits(pod);
    if (spec_ != pod.spec.get()) {
      spec_ = pod.spec.get();
      has_room_ = Fits(pod);
    }
    return has_room_;
  }

  // Whether cpu and memory, which every profile counts, suffice for the pod beside who runs there
  // and who is expected and comes before it.
  bool Fits(const api::Pod& pod) const {
    const Resource request = framework::PodRequest(pod);
    for (const auto resource : {&Resource::milli_cpu, &Resource::memory}) {
      if (request.*resource <= 0) continue;
      int64_t taken = node_.requested().*resource;
      for (const framework::PodInfoPtr& info : nominated_) {
        if (!framework::Respects(pod, info->pod())) continue;
        taken = golang::WrappingAdd(taken, info->request().requested.*resource);
      }
      const int64_t all = node_.allocatable().*resource;
      if (request.*resource > golang::WrappingSub(all, taken)) return false;
    }
    return true;
  }

  const Context& context_;
  const NodeInfo& node_;
  const std::span<const framework::PodInfoPtr> nominated_;  // to the node
  Symbol scheduler_name_;
  const framework::Framework* profile_ = nullptr;  // of that name
  const api::PodSpec* spec_ = nullptr;
  bool has_room_ = false;  // for pods of that spec
};

}  // namespace

queue::PreCheck MayUseRoomOn(const Context& context, std::string_view node) {
  if (!context.nominator.HasNominatedPods()) return {};
  const NodeInfo* const info = context.cluster.cache.Find(node);
  if (info == nullptr) return {};
  return [room = FreedRoom(context, *info)](const framework::QueuedPod& pod) mutable {
    return room.MayHelp(pod);
  };
}

void TellThatNotExpected(const Context& context, std::string_view node) {
  if (node.empty()) return;  // so it is of most pods
  const NodeInfo* const info = context.cluster.cache.Find(node);
  if (info == nullptr) return;
  std::vector<api::PodPtr> helped;
  FreedRoom room(context, *info);
  context.nominator.ForEachNominatedNode([&](std::string_view nominated) {
    for (const framework::PodInfoPtr& waiting : context.nominator.NominatedPodsForNode(nominated)) {
      const auto* queued = context.queue.stores().FindPod(waiting->pod().meta.Key());
      if (queued != nullptr && room.HelpsWhoAwaitsVictims(*queued)) helped.push_back(queued->pod());
    }
  });
  for (const api::PodPtr& pod : helped) {
    context.queue.LookAgain(pod, framework::kLabelExpectedElsewhere);
  }
}

}  // namespace ks::scheduler
