// SPDX-License-Identifier: Apache-2.0
#include "framework/node_info.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "framework/find_pod.h"

namespace ks::framework {
namespace {

uint64_t NextGeneration() {
  static std::atomic<uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Sorted; the position is the bit (docs/spec/plugins-node.md 4.11).
constexpr std::array<std::string_view, 9> kKnownFeatures = {
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "InPlacePodVerticalScalingMemoryBackedVolumes",
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions",
};

// A merge of two sorted lists: a name that a node reports out of order may be missed. Upstream does
// the same.
uint32_t MapFeatures(const std::vector<std::string>& declared) {
  uint32_t bits = 0;
  size_t known = 0;
  for (size_t i = 0; i < declared.size() && known < kKnownFeatures.size();) {
    if (declared[i] == kKnownFeatures[known]) {
      bits |= 1U << known;
      ++i;
      ++known;
    } else if (declared[i] < kKnownFeatures[known]) {
      ++i;
    } else {
      ++known;
    }
  }
  return bits;
}

struct Effects {
  Symbol no_schedule{"NoSchedule"};
  Symbol no_execute{"NoExecute"};
  Symbol prefer_no_schedule{"PreferNoSchedule"};

  static const Effects& Get() {
    static const Effects effects;
    return effects;
  }
};

bool HasAffinity(const api::Pod& pod) {
  return pod.spec->pod_affinity.has_value() || pod.spec->pod_anti_affinity.has_value();
}
bool HasRequiredAntiAffinity(const api::Pod& pod) {
  return pod.spec->pod_anti_affinity.has_value() && !pod.spec->pod_anti_affinity->required.empty();
}

// Moves the last element into the freed place. Null when no pod has the uid.
PodInfoPtr SwapRemove(std::vector<PodInfoPtr>* pods, const std::string& uid) {
  const PodInfoPtr* const found = FindPodByUid(*pods, uid);
  if (found == nullptr) return nullptr;
  PodInfoPtr& place = (*pods)[static_cast<size_t>(found - pods->data())];
  PodInfoPtr removed = std::exchange(place, std::move(pods->back()));
  pods->pop_back();
  return removed;
}

}  // namespace

NodeInfo::NodeInfo() : generation_(NextGeneration()) {}

const ImageState* NodeInfo::FindImage(const Symbol& name) const {
  const auto it =
      std::lower_bound(images_.begin(), images_.end(), name,
                       [](const ImageState& image, const Symbol& n) { return image.name < n; });
  return it != images_.end() && it->name == name ? &*it : nullptr;
}

void NodeInfo::SetNode(api::NodePtr node) {
  const Effects& effects = Effects::Get();
  node_ = std::move(node);
  allocatable_ = Resource::FromList(node_->allocatable);
  declared_features_ = MapFeatures(node_->declared_features);
  unschedulable_ = node_->unschedulable;
  has_hard_taints_ = has_soft_taints_ = false;
  for (const api::Taint& taint : node_->taints) {
    if (taint.effect == effects.no_schedule || taint.effect == effects.no_execute) {
      has_hard_taints_ = true;
    } else if (taint.effect == effects.prefer_no_schedule) {
      has_soft_taints_ = true;
    }
  }
  generation_ = NextGeneration();
}

void NodeInfo::UnsetNode() {
  node_.reset();
  generation_ = NextGeneration();
}

void NodeInfo::CountPriority(int32_t priority) {
  if (priority < lowest_priority_) {
    lowest_priority_ = priority;
    lowest_priority_pods_ = 0;
  }
  if (priority == lowest_priority_) ++lowest_priority_pods_;
}

// The pod has left pods_ already.
void NodeInfo::UncountPriority(int32_t priority) {
  if (priority != lowest_priority_ || --lowest_priority_pods_ > 0) return;
  lowest_priority_ = kNoPriority;
  for (const PodInfoPtr& info : pods_) CountPriority(info->pod().Priority());
}

void NodeInfo::AddPod(PodInfoPtr pod) {
  CountPriority(pod->pod().Priority());
  const AccountedRequest& request = pod->request();
  requested_.Add(request.requested);
  non_zero_milli_cpu_ += request.non_zero_milli_cpu;
  non_zero_memory_ += request.non_zero_memory;
  used_ports_.Add(pod->host_ports());
  if (HasAffinity(pod->pod())) pods_with_affinity_.push_back(pod);
  if (HasRequiredAntiAffinity(pod->pod())) pods_with_required_anti_affinity_.push_back(pod);
  pods_.push_back(std::move(pod));
  generation_ = NextGeneration();
}

PodInfoPtr NodeInfo::RemovePod(const api::Pod& pod) {
  PodInfoPtr removed = SwapRemove(&pods_, pod.meta.uid);
  if (removed == nullptr) return nullptr;
  UncountPriority(removed->pod().Priority());
  if (HasAffinity(pod)) SwapRemove(&pods_with_affinity_, pod.meta.uid);
  if (HasRequiredAntiAffinity(pod)) SwapRemove(&pods_with_required_anti_affinity_, pod.meta.uid);
  const AccountedRequest& request = removed->request();
  requested_.Sub(request.requested);
  non_zero_milli_cpu_ -= request.non_zero_milli_cpu;
  non_zero_memory_ -= request.non_zero_memory;
  used_ports_.Remove(removed->host_ports());
  generation_ = NextGeneration();
  return removed;
}

}  // namespace ks::framework
