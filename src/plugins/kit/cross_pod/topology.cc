// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/cross_pod/topology.h"

#include <algorithm>
#include <utility>

namespace ks::plugins {
namespace {

// Domains without a node are kept until they are this many more than twice the nodes.
constexpr size_t kSpareDomains = 1024;

}  // namespace

// A key that no node has takes no memory per node: pods may ask for any.
void Topology::Restart(size_t) {
  ++epoch_;
  by_slot_.clear();
  values_.clear();
  nodes_.clear();
  crowded_ = 0;
  numbers_.clear();
}

void Topology::Leave(uint32_t slot) {
  if (slot >= by_slot_.size()) return;
  const int32_t domain = std::exchange(by_slot_[slot], kNoDomain);
  if (domain != kNoDomain && --nodes_[static_cast<size_t>(domain)] == 1) --crowded_;
}

void Topology::OnNode(uint32_t slot, const framework::NodeInfo* node) {
  static constexpr Symbol kEmpty;
  const Symbol* value = node == nullptr ? nullptr : node->node()->meta.labels.Find(key_);
  if (value == nullptr && node != nullptr && missing_is_empty_) value = &kEmpty;
  Leave(slot);
  if (value == nullptr) return;
  if (slot >= by_slot_.size()) by_slot_.resize(slot + 1, kNoDomain);
  const auto [it, inserted] = numbers_.try_emplace(*value, static_cast<int32_t>(values_.size()));
  if (inserted) {
    values_.push_back(*value);
    nodes_.push_back(0);
  }
  by_slot_[slot] = it->second;
  if (++nodes_[static_cast<size_t>(it->second)] == 2) ++crowded_;
}

void Topology::Refresh(const framework::Snapshot& snapshot) {
  reader_.Follow(snapshot, *this);
  if (values_.size() <= 2 * snapshot.nodes().size() + kSpareDomains) return;
  // At once: numbers do not change between two calls for one snapshot.
  reader_.Forget();
  reader_.Follow(snapshot, *this);
}

int32_t Topology::Find(const Symbol& value) const {
  const auto it = numbers_.find(value);
  return it == numbers_.end() ? kNoDomain : it->second;
}

TopologyPtr Topologies::Get(const Symbol& key, const framework::Snapshot& snapshot,
                            const Topology::Options& options) {
  if (plain_.size() + missing_is_empty_.size() >= sweep_at_) {
    const auto nobody_has = [](const auto& entry) { return entry.second.use_count() == 1; };
    std::erase_if(plain_, nobody_has);
    std::erase_if(missing_is_empty_, nobody_has);
    sweep_at_ = std::max<size_t>(64, 2 * (plain_.size() + missing_is_empty_.size()));
  }
  std::shared_ptr<Topology>& topology =
      (options.missing_is_empty ? missing_is_empty_ : plain_)[key];
  if (topology == nullptr) topology = std::make_shared<Topology>(key, options);
  topology->Refresh(snapshot);
  return topology;
}

}  // namespace ks::plugins
