// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/domain_counts.h"

#include <utility>

namespace ks::plugins {

void DomainCounts::Refresh(const framework::Snapshot& snapshot) {
  if (epoch_ != topology_.epoch()) reader_.Forget();
  reader_.Follow(snapshot, *this);
  counted_ = false;
  if (at_minimum_ == 0) FindMinimum();
}

void DomainCounts::Restart(size_t slots) {
  epoch_ = topology_.epoch();
  nodes_.assign(slots, Node());
  domains_.assign(topology_.domains(), Domain());
  existing_ = at_minimum_ = 0;
  counted_ = reader_.ForEachGroup(1, [this](const framework::PodsByLabels::Group& group) {
    const int32_t each = CountOf(group.like);
    if (each == 0) return;
    for (const auto& [slot, pods] : group.on_slot) nodes_[slot].pods += each * pods;
  });
}

int32_t DomainCounts::CountOn(const framework::NodeInfo& node) const {
  int32_t sum = 0;
  for (const framework::PodInfoPtr& pod : node.pods()) sum += CountOf(*pod);
  return sum;
}

void DomainCounts::OnNode(uint32_t slot, const framework::NodeInfo* node) {
  if (slot >= nodes_.size()) nodes_.resize(slot + 1);
  if (domains_.size() < topology_.domains()) domains_.resize(topology_.domains());
  Node& entry = nodes_[slot];
  if (entry.domain >= 0) {
    Add(entry.domain, -entry.pods);
    Leave(entry.domain);
  }
  const int32_t counted = std::exchange(entry, Node()).pods;
  if (node == nullptr) return;
  entry.pods = counted_ ? counted : CountOn(*node);
  entry.domain = topology_.DomainOf(slot);
  if (entry.domain != kNoDomain && !TakesPart(*node)) entry.domain = kNoDomain;
  if (entry.domain == kNoDomain) return;
  Join(entry.domain);
  Add(entry.domain, entry.pods);
}

void DomainCounts::OnPod(uint32_t slot, const framework::PodInfo& pod, int sign) {
  if (slot >= nodes_.size() || nodes_[slot].domain == kUnlisted) return;
  const int32_t difference = sign * CountOf(pod);
  if (difference == 0) return;
  nodes_[slot].pods += difference;
  if (nodes_[slot].domain >= 0) Add(nodes_[slot].domain, difference);
}

// Keeps the minimum while some domain is known to have it; FindMinimum does the rest.
void DomainCounts::Add(int32_t domain, int64_t difference) {
  Domain& entry = domains_[static_cast<size_t>(domain)];
  const int64_t before = entry.count;
  entry.count += difference;
  if (at_minimum_ == 0 || entry.nodes == 0) return;
  if (entry.count < minimum_) {
    minimum_ = entry.count;
    at_minimum_ = 1;
    return;
  }
  if (before == minimum_) --at_minimum_;
  if (entry.count == minimum_) ++at_minimum_;
}

void DomainCounts::Join(int32_t domain) {
  Domain& entry = domains_[static_cast<size_t>(domain)];
  if (entry.nodes++ > 0) return;
  ++existing_;
  if (at_minimum_ == 0) return;
  if (entry.count < minimum_) {
    minimum_ = entry.count;
    at_minimum_ = 1;
  } else if (entry.count == minimum_) {
    ++at_minimum_;
  }
}

void DomainCounts::Leave(int32_t domain) {
  Domain& entry = domains_[static_cast<size_t>(domain)];
  if (--entry.nodes > 0) return;
  --existing_;
  if (at_minimum_ > 0 && entry.count == minimum_) --at_minimum_;
}

void DomainCounts::FindMinimum() {
  at_minimum_ = 0;
  for (const Domain& entry : domains_) {
    if (entry.nodes == 0) continue;
    if (at_minimum_ == 0 || entry.count < minimum_) {
      minimum_ = entry.count;
      at_minimum_ = 1;
    } else if (entry.count == minimum_) {
      ++at_minimum_;
    }
  }
}

}  // namespace ks::plugins
