// SPDX-License-Identifier: Apache-2.0
#include "cache/snapshot_changes.h"

#include <algorithm>

#include "base/check.h"

namespace ks::cache {

using framework::Change;
using framework::NodeInfo;
using framework::PodInfoPtr;

void SnapshotChanges::Put(NodeEntry& entry, const api::PodPtr& pod) {
  entries_.Put(entry, pod);
  affinity_.Update(entry);
}

PodInfoPtr SnapshotChanges::Take(NodeEntry& entry, const api::Pod& pod) {
  PodInfoPtr removed = entries_.Take(entry, pod);
  affinity_.Update(entry);
  return removed;
}

void SnapshotChanges::AssumePod(const api::PodPtr& pod) {
  NodeEntry* entry = entries_.Find(pod->node_name.view());
  KS_CHECK(entry != nullptr && entry->listed, "a member is tried on a node that is not listed");
  assumed_.push_back(
      {.uid = pod->meta.uid, .entry = entry, .generation = entry->info.generation()});
  Put(*entry, pod);
  if (groups_ != nullptr) groups_->Assume(pod);
}

Result<void> SnapshotChanges::ForgetPod(const api::Pod& pod) {
  if (assumed_.empty() || assumed_.back().uid != pod.meta.uid) {
    return Error{"assumed pod \"" + pod.meta.uid + "\" not found in the snapshot"};
  }
  const Assumed last = std::move(assumed_.back());
  assumed_.pop_back();
  const PodInfoPtr removed = Take(*last.entry, pod);
  KS_CHECK(removed != nullptr, "an assumed member is not on its node");
  last.entry->info.set_generation(last.generation);
  if (groups_ != nullptr) groups_->Forget(pod);
  return {};
}

Result<void> SnapshotChanges::StartMutations() {
  if (scope_) return Error{"cannot stack mutations"};
  scope_.emplace();
  return {};
}

// The node as it is now is kept for the end of the scope.
Result<NodeEntry*> SnapshotChanges::ToChange(std::string_view node, std::string_view caller) {
  if (!scope_) return Error{std::string(caller) + "() called outside of mutation session"};
  NodeEntry* entry = entries_.Find(node);
  if (entry == nullptr || !entry->listed) {
    return Error{"node \"" + std::string(node) + "\" not found in the snapshot"};
  }
  scope_->nodes.try_emplace(entry->name, entry, entry->info);
  return entry;
}

void SnapshotChanges::Note(const api::PodPtr& pod) {
  if (groups_ == nullptr || !pod->spec->scheduling_group) return;
  Step& step = scope_->steps.emplace_back();
  step.pod = pod;
  if (const auto* known = groups_->FindMember(*pod)) step.before = *known;
}

Result<void> SnapshotChanges::AddPod(const api::PodPtr& pod) {
  const Result<NodeEntry*> entry = ToChange(pod->node_name.str(), "AddPod");
  if (!entry.ok()) return entry.error();
  Put(**entry, pod);
  Note(pod);
  if (groups_ != nullptr) groups_->AddMember(pod);
  return {};
}

Result<void> SnapshotChanges::RemovePod(const api::Pod& pod) {
  const Result<NodeEntry*> entry = ToChange(pod.node_name.str(), "RemovePod");
  if (!entry.ok()) return entry.error();
  const PodInfoPtr removed = Take(**entry, pod);
  if (removed == nullptr) {
    return Error{"no corresponding pod " + pod.meta.name + " in pods of node " +
                 pod.node_name.str()};
  }
  Note(removed->ptr());
  if (groups_ != nullptr) groups_->RemoveMember(pod);
  return {};
}

// The pods of a node have an order, in which victims are looked for; so the node is put back as it
// was, and not only its pods.
void SnapshotChanges::Restore(NodeEntry& entry, NodeInfo before) {
  const auto holds = [](const NodeInfo& info, const PodInfoPtr& pod) {
    const auto pods = info.pods();
    return std::find(pods.begin(), pods.end(), pod) != pods.end();
  };
  const uint32_t slot = entry.info.slot();
  for (const PodInfoPtr& pod : entry.info.pods()) {
    if (!holds(before, pod)) entries_.changes().Append(Change::Kind::kPodRemoved, slot, pod);
  }
  for (const PodInfoPtr& pod : before.pods()) {
    if (!holds(entry.info, pod)) entries_.changes().Append(Change::Kind::kPodAdded, slot, pod);
  }
  entry.info = std::move(before);
  affinity_.Update(entry);
}

Result<void> SnapshotChanges::EndMutations() {
  if (!scope_) return Error{"no mutation session started"};
  KS_CHECK(assumed_.empty(), "members are still assumed at the end of a mutation scope");
  Scope scope = *std::move(scope_);
  scope_.reset();
  for (auto& [name, kept] : scope.nodes) Restore(*kept.first, std::move(kept.second));
  if (groups_ == nullptr) return {};
  for (auto step = scope.steps.rbegin(); step != scope.steps.rend(); ++step) {
    if (step->before) {
      groups_->SetMember(*step->before);
    } else {
      groups_->RemoveMember(*step->pod);
    }
  }
  return {};
}

}  // namespace ks::cache
