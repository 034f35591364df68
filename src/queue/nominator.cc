// SPDX-License-Identifier: Apache-2.0
#include "queue/nominator.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/logging.h"

namespace ks::queue {
namespace {

// A pod in no store is known by its identity only.
framework::PodInfoPtr Stub(const api::Pod& pod) {
  auto spec = std::make_shared<api::PodSpec>();
  spec->scheduling_group = pod.spec->scheduling_group;
  auto stub = std::make_shared<api::Pod>();
  stub->meta.name = pod.meta.name;
  stub->meta.ns = pod.meta.ns;
  stub->meta.uid = pod.meta.uid;
  stub->spec = std::move(spec);
  return std::make_shared<framework::PodInfo>(std::move(stub));
}

}  // namespace

std::span<const framework::PodInfoPtr> PodNominator::NominatedPodsForNode(
    std::string_view node_name) const {
  const auto it = nominations_.find(node_name);
  if (it == nominations_.end()) return {};
  return it->second;
}

void PodNominator::AddNominatedPod(const api::PodPtr& pod,
                                   const std::optional<framework::NominatingInfo>& info) {
  DeleteNominatedPodIfExists(*pod);
  const std::string& node =
      info.has_value() ? info->node_name : pod->status.nominated_node_name.str();
  if (node.empty()) return;
  if (sources_.informer) {
    const api::PodPtr known = sources_.informer(*pod);
    if (known == nullptr) {
      KS_LOG(4, "Pod doesn't exist in podLister, aborted adding it to the nominator",
             {{"pod", pod->meta.Key()}});
      return;
    }
    if (!known->node_name.empty()) {
      KS_LOG(4, "Pod is already scheduled to a node, aborted adding it to the nominator",
             {{"pod", pod->meta.Key()}, {"node", known->node_name.str()}});
      return;
    }
  }
  const api::PodPtr stored = sources_.stored(*pod);
  nominations_[node].push_back(stored == nullptr ? Stub(*pod)
                                                 : std::make_shared<framework::PodInfo>(stored));
  changes_.Append(node);
  const bool first = node_of_.insert_or_assign(pod->meta.uid, node).second;
  KS_CHECK(first, "a pod is nominated to one node at most");
}

void PodNominator::DeleteNominatedPodIfExists(const api::Pod& pod) {
  const auto node = node_of_.find(pod.meta.uid);
  if (node == node_of_.end()) return;
  const auto list = nominations_.find(node->second);
  KS_CHECK(list != nominations_.end(), "a nominated pod is missing in its node's list");
  const size_t erased = std::erase_if(list->second, [&pod](const framework::PodInfoPtr& info) {
    return info->pod().meta.uid == pod.meta.uid;
  });
  KS_CHECK(erased == 1, "a pod is nominated to its node once");
  changes_.Append(node->second);
  if (list->second.empty()) nominations_.erase(list);
  node_of_.erase(node);
}

void PodNominator::Update(const api::Pod& old_pod, const api::PodPtr& new_pod) {
  const bool named =
      !old_pod.status.nominated_node_name.empty() || !new_pod->status.nominated_node_name.empty();
  const auto node = node_of_.find(old_pod.meta.uid);
  if (named || node == node_of_.end()) {
    AddNominatedPod(new_pod, std::nullopt);
    return;
  }
  const framework::NominatingInfo kept{.node_name = node->second};
  AddNominatedPod(new_pod, kept);
}

void PodNominator::PodStored(const api::PodPtr& pod) {
  if (node_of_.empty()) return;
  framework::PodInfoPtr* entry = FindEntry(pod->meta.uid);
  if (entry == nullptr || (*entry)->ptr() == pod) return;
  Exchange(*entry, std::make_shared<framework::PodInfo>(pod));
}

void PodNominator::PodLeft(const api::Pod& pod) {
  if (node_of_.empty()) return;
  framework::PodInfoPtr* entry = FindEntry(pod.meta.uid);
  if (entry != nullptr) Exchange(*entry, Stub(pod));
}

// What is seen of a nominated pod.
void PodNominator::Exchange(framework::PodInfoPtr& entry, framework::PodInfoPtr other) {
  entry = std::move(other);
  changes_.Append(node_of_.find(entry->pod().meta.uid)->second);
}

std::string_view PodNominator::NodeOf(std::string_view uid) const {
  if (node_of_.empty()) return {};
  const auto it = node_of_.find(uid);
  return it == node_of_.end() ? std::string_view() : std::string_view(it->second);
}

framework::PodInfoPtr* PodNominator::FindEntry(std::string_view uid) {
  const auto node = node_of_.find(uid);
  if (node == node_of_.end()) return nullptr;
  for (framework::PodInfoPtr& info : nominations_.find(node->second)->second) {
    if (info->pod().meta.uid == uid) return &info;
  }
  return nullptr;
}

}  // namespace ks::queue
