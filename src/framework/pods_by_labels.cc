// SPDX-License-Identifier: Apache-2.0
#include "framework/pods_by_labels.h"

#include <algorithm>

#include <absl/hash/hash.h>

namespace ks::framework {
namespace {

constexpr size_t kFewGroups = 4096;  // always kept
constexpr size_t kLeastPodsPerGroup = 4;

// Its order is nobody's business.
template <class Values, class Value>
void EraseOne(Values& values, const Value& value) {
  *std::find(values.begin(), values.end(), value) = values.back();
  values.pop_back();
}

}  // namespace

size_t PodsByLabels::Hash::HashOf(const PodInfo& pod) {
  const api::ObjectMeta& meta = pod.pod().meta;
  size_t hash = absl::HashOf(meta.ns, meta.deletion_timestamp.has_value());
  for (const auto& [key, value] : meta.labels) hash = absl::HashOf(hash, key, value);
  return hash;
}

bool PodsByLabels::Equal::AreAlike(const PodInfo& a, const PodInfo& b) {
  const api::ObjectMeta& left = a.pod().meta;
  const api::ObjectMeta& right = b.pod().meta;
  return left.ns == right.ns && left.labels == right.labels &&
         left.deletion_timestamp.has_value() == right.deletion_timestamp.has_value();
}

bool PodsByLabels::Refresh(const Snapshot& snapshot, size_t questions) {
  const uint64_t end = snapshot.changes().end();
  if (end < retry_at_) return false;
  if (!reader_.Reaches(snapshot) && refused_ + questions <= kQuestionsWithoutGroups) {
    Clear();
    refused_ += questions;
    return false;
  }
  refused_ = 0;
  reader_.Follow(snapshot, *this);
  if (groups_.size() <= std::max(kFewGroups, pods_ / kLeastPodsPerGroup)) return true;
  retry_at_ = end + pods_;
  Clear();
  reader_.Forget();
  return false;
}

void PodsByLabels::Clear() {
  by_label_.clear();
  groups_.clear();
  slots_.clear();
  pods_ = 0;
}

void PodsByLabels::Restart(size_t slots) {
  Clear();
  slots_.resize(slots);
}

void PodsByLabels::OnNode(uint32_t slot, const NodeInfo* node) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  Slot& entry = slots_[slot];
  for (Group* group : entry.groups) {
    const auto here = group->on_slot.find(slot);
    pods_ -= static_cast<size_t>(here->second);
    group->on_slot.erase(here);
    DropIfEmpty(*group);
  }
  entry.groups.clear();
  entry.listed = node != nullptr;
  if (node == nullptr) return;
  for (const PodInfoPtr& pod : node->pods()) Add(slot, *pod);
}

void PodsByLabels::OnPod(uint32_t slot, const PodInfo& pod, int sign) {
  if (slot >= slots_.size() || !slots_[slot].listed) return;
  if (sign > 0) {
    Add(slot, pod);
  } else {
    Remove(slot, pod);
  }
}

void PodsByLabels::Add(uint32_t slot, const PodInfo& pod) {
  Group& group = GroupOf(pod);
  if (++group.on_slot[slot] == 1) slots_[slot].groups.push_back(&group);
  ++pods_;
}

PodsByLabels::Group& PodsByLabels::GroupOf(const PodInfo& pod) {
  const auto found = groups_.find(pod);
  if (found != groups_.end()) return **found;
  Group& group = **groups_.insert(std::make_unique<Group>(Group{.like = pod, .on_slot = {}})).first;
  for (const auto& [key, value] : pod.pod().meta.labels) {
    by_label_[Label{key, value}].push_back(&group);
  }
  return group;
}

void PodsByLabels::Remove(uint32_t slot, const PodInfo& pod) {
  const auto found = groups_.find(pod);
  if (found == groups_.end()) return;
  Group& group = **found;
  const auto here = group.on_slot.find(slot);
  if (here == group.on_slot.end()) return;
  --pods_;
  if (--here->second > 0) return;
  group.on_slot.erase(here);
  EraseOne(slots_[slot].groups, &group);
  DropIfEmpty(group);
}

void PodsByLabels::DropIfEmpty(Group& group) {
  if (!group.on_slot.empty()) return;
  for (const auto& [key, value] : group.like.pod().meta.labels) {
    const auto found = by_label_.find(Label{key, value});
    EraseOne(found->second, &group);
    if (found->second.empty()) by_label_.erase(found);
  }
  groups_.erase(groups_.find(group.like));
}

}  // namespace ks::framework
