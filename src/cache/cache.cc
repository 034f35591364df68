// SPDX-License-Identifier: Apache-2.0
#include "cache/cache.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"

namespace ks::cache {
namespace {

using framework::Change;
using framework::NodeInfo;

constexpr std::string_view kMiscounted = "the cache has lost count of its pods";

Error PodError(const api::Pod& pod, std::string_view text) {
  return Error{"pod " + pod.meta.uid + "(" + pod.meta.Key() + ") " + std::string(text)};
}

Result<void> CheckUid(const api::Pod& pod) {
  if (pod.meta.uid.empty()) return Error{"cannot get cache key for pod with empty UID"};
  return {};
}

// Those that are registered in the image table.
const api::ImageSizes& ImagesOf(const NodeEntry& entry) {
  static const api::ImageSizes none;
  return entry.info.node() == nullptr ? none : entry.info.node()->images;
}

}  // namespace

Cache::Cache(PodGroups* groups) : groups_(groups), trial_(entries_, affinity_, groups) {}
Cache::~Cache() = default;

Result<void> Cache::AssumePod(const api::PodPtr& pod) {
  if (Result<void> checked = CheckUid(*pod); !checked.ok()) return checked;
  if (pods_.contains(pod->meta.uid)) {
    return PodError(*pod, "is in the cache, so can't be assumed");
  }
  KS_CHECK(!pod->node_name.empty(), "a pod is assumed on a node");
  entries_.ChargePod(pod);
  pods_.insert({.pod = pod, .assumed = true});
  ++assumed_count_;
  if (groups_ != nullptr) groups_->Assume(pod);
  KS_CHECK(assumed_count_ <= pods_.size(), kMiscounted);
  return {};
}

Result<void> Cache::ForgetPod(const api::Pod& pod) {
  if (Result<void> checked = CheckUid(pod); !checked.ok()) return checked;
  const auto it = pods_.find(pod.meta.uid);
  if (it == pods_.end()) return {};
  if (it->pod->node_name != pod.node_name) {
    return PodError(pod, "was assumed on " + pod.node_name.str() + " but assigned to " +
                             it->pod->node_name.str());
  }
  if (!it->assumed) {
    return PodError(pod, "is not assumed, so it cannot be removed or forgotten");
  }
  KS_CHECK(assumed_count_ > 0, kMiscounted);
  entries_.ReleasePod(*it->pod);
  pods_.erase(it);
  --assumed_count_;
  KS_CHECK(assumed_count_ <= pods_.size(), kMiscounted);
  if (groups_ != nullptr) groups_->Forget(pod);
  return {};
}

Result<void> Cache::RemoveAssumedPod(const api::Pod& pod) {
  Result<void> forgotten = ForgetPod(pod);
  if (forgotten.ok() && groups_ != nullptr) groups_->RemoveMember(pod);
  return forgotten;
}

Result<void> Cache::AddPod(const api::PodPtr& pod) {
  if (Result<void> checked = CheckUid(*pod); !checked.ok()) return checked;
  const auto it = pods_.find(pod->meta.uid);
  if (it == pods_.end()) {
    entries_.ChargePod(pod);
    pods_.insert({.pod = pod, .assumed = false});
    if (groups_ != nullptr) groups_->AddMember(pod);
    return {};
  }
  if (!it->assumed) return PodError(*pod, "was already in added state");
  if (it->pod->node_name != pod->node_name) {
    log::Info(0, "Pod was added to a different node than it was assumed",
              {{"pod", pod->meta.Key()},
               {"assumedNode", it->pod->node_name.str()},
               {"currentNode", pod->node_name.str()}});
  }
  KS_CHECK(assumed_count_ > 0, kMiscounted);
  if (!KS_CANARY(AssumedCountedTwice)) entries_.ReleasePod(*it->pod);
  entries_.ChargePod(pod);
  pods_.erase(it);
  pods_.insert({.pod = pod, .assumed = false});
  --assumed_count_;
  if (groups_ != nullptr) groups_->AddMember(pod);
  KS_CHECK(!IsAssumedPod(*pod), "a pod that was seen is still assumed");
  return {};
}

Result<void> Cache::UpdatePod(const api::Pod& old_pod, const api::PodPtr& new_pod) {
  if (Result<void> checked = CheckUid(old_pod); !checked.ok()) return checked;
  if (Result<void> checked = CheckUid(*new_pod); !checked.ok()) return checked;
  const auto it = pods_.find(old_pod.meta.uid);
  if (it == pods_.end()) {
    return PodError(old_pod, "is not added to scheduler cache, so cannot be updated");
  }
  if (it->assumed) {
    return Error{"assumed " + PodError(old_pod, "should not be updated").message};
  }
  if (new_pod->meta.uid != old_pod.meta.uid && pods_.contains(new_pod->meta.uid)) {
    return PodError(*new_pod, "was already in added state");
  }
  KS_CHECK(it->pod->node_name == new_pod->node_name,
           "Pod updated on a different node than previously added to. " + std::string(kCorrupted));
  entries_.ReleasePod(*it->pod);
  pods_.erase(it);
  entries_.ChargePod(new_pod);
  const bool added = pods_.insert({.pod = new_pod, .assumed = false}).second;
  KS_CHECK(added, "an update takes the place of another pod");
  if (groups_ != nullptr) {
    groups_->RemoveMember(old_pod);
    groups_->AddMember(new_pod);
  }
  return {};
}

Result<void> Cache::RemovePod(const api::Pod& pod) {
  if (Result<void> checked = CheckUid(pod); !checked.ok()) return checked;
  const auto it = pods_.find(pod.meta.uid);
  if (it == pods_.end()) {
    return PodError(pod, "is not found in scheduler cache, so cannot be removed from it");
  }
  const api::Pod& cached = *it->pod;
  if (cached.node_name != pod.node_name) {
    log::Error("", "Pod was added to a different node than it was assumed",
               {{"pod", pod.meta.Key()},
                {"assumedNode", cached.node_name.str()},
                {"currentNode", pod.node_name.str()}});
    KS_CHECK(pod.node_name.empty(), kCorrupted);
  }
  KS_CHECK(!it->assumed || assumed_count_ > 0, kMiscounted);
  if (it->assumed) --assumed_count_;
  if (groups_ != nullptr) groups_->RemoveMember(cached);
  entries_.ReleasePod(cached);
  pods_.erase(it);
  KS_CHECK(assumed_count_ <= pods_.size(), kMiscounted);
  return {};
}

Result<api::PodPtr> Cache::GetPod(const api::Pod& pod) const {
  if (Result<void> checked = CheckUid(pod); !checked.ok()) return checked.error();
  const auto it = pods_.find(pod.meta.uid);
  if (it == pods_.end()) return PodError(pod, "does not exist in scheduler cache");
  return it->pod;
}

bool Cache::IsAssumedPod(const api::Pod& pod) const {
  const auto it = pods_.find(pod.meta.uid);
  return it != pods_.end() && it->assumed;
}

void Cache::SetNode(NodeEntry& entry, const api::NodePtr& node) {
  images_.Replace(ImagesOf(entry), node->images);
  entry.image_version = 0;  // names may have changed although no figure did
  entry.info.SetNode(node);
  if (entry.listed) entries_.changes().Append(Change::Kind::kNode, entry.info.slot());
  KS_CHECK(entry.alive && entry.info.node() == node.get(), kCorrupted);
}

void Cache::AddNode(const api::NodePtr& node) {
  NodeEntry& entry = entries_.Touch(node->meta.name);
  if (!tree_.Add(node->meta.name, ZoneKey(*node))) {
    log::Info(0, "Node is in the node tree already", {{"node", node->meta.name}});
  }
  SetNode(entry, node);
}

void Cache::UpdateNode(const api::Node& old_node, const api::NodePtr& new_node) {
  const std::string& name = new_node->meta.name;
  const bool known = entries_.FindAlive(name) != nullptr;
  NodeEntry& entry = entries_.Touch(name);
  const std::string zone_key = ZoneKey(*new_node);
  // A known entry joins the tree only by a change of zone: see docs/spec/cache.md 6.2.
  if (!known || ZoneKey(old_node) != zone_key) tree_.Add(name, zone_key);
  SetNode(entry, new_node);
}

Result<void> Cache::RemoveNode(const api::Node& node) {
  NodeEntry* const found = entries_.FindAlive(node.meta.name);
  if (found == nullptr) return Error{"node " + node.meta.name + " is not found"};
  NodeEntry& entry = *found;
  if (KS_CANARY(NodeRemovalIgnored) && !entry.info.pods().empty()) return {};
  if (entry.in_snapshot && !entry.lost_node && entry.info.node() != nullptr) {
    entry.lost_node = true;
    lost_nodes_.push_back(&entry);
    if (entry.listed) {
      last_states_.push_back(std::make_unique<NodeInfo>(entry.info));
      ReplaceInLists(entry, last_states_.back().get());
    }
  }
  images_.Replace(ImagesOf(entry), {});
  entry.info.UnsetNode();
  entries_.MoveToFront(entry);
  entries_.DropIfEmpty(entry);
  return tree_.Remove(node.meta.name, ZoneKey(node));
}

Cache::Counts Cache::counts() const {
  return {.assumed_pods = assumed_count_, .pods = pods_.size(), .nodes = entries_.count()};
}

void Cache::ForEachEntry(
    const std::function<void(const std::string& name, const NodeInfo& info)>& visit) const {
  std::vector<const NodeEntry*> sorted;
  for (const NodeEntry* entry = entries_.newest(); entry != nullptr; entry = entry->older) {
    sorted.push_back(entry);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const NodeEntry* a, const NodeEntry* b) { return a->name < b->name; });
  for (const NodeEntry* entry : sorted) visit(entry->name, entry->info);
}

std::vector<std::string> Cache::PodUids() const {
  std::vector<std::string> uids;
  uids.reserve(pods_.size());
  for (const PodState& state : pods_) uids.push_back(state.pod->meta.uid);
  std::sort(uids.begin(), uids.end());
  return uids;
}

}  // namespace ks::cache
