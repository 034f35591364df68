// SPDX-License-Identifier: Apache-2.0
#pragma once
// SnapshotChanges: the cache's view, changed for the time of a group attempt. Part of Cache.
//
// Upstream: docs/spec/cache.md 18.4.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/affinity_lists.h"
#include "cache/node_entries.h"
#include "cache/pod_groups.h"
#include "framework/mutable_snapshot.h"

namespace ks::cache {

// The recency list and the images of a node stay as they are, so that the next refresh does not
// take a node for newer because something was tried on it.
// Threads: the scheduling thread. Lifetime: what it is made of outlives it.
class SnapshotChanges final : public framework::MutableSnapshot {
 public:
  // `groups`: null while there are none.
  SnapshotChanges(NodeEntries& entries, AffinityLists& affinity, PodGroups* groups)
      : entries_(entries), affinity_(affinity), groups_(groups) {}

  void AssumePod(const api::PodPtr& pod) override;
  Result<void> ForgetPod(const api::Pod& pod) override;
  Result<void> StartMutations() override;
  Result<void> EndMutations() override;
  Result<void> AddPod(const api::PodPtr& pod) override;
  Result<void> RemovePod(const api::Pod& pod) override;

  // Nothing is changed now.
  bool idle() const { return assumed_.empty() && !scope_; }

 private:
  struct Assumed {
    std::string uid;
    NodeEntry* entry;
    uint64_t generation;  // of the node before
  };
  // A member came or went. `before`: what its group knew of it.
  struct Step {
    api::PodPtr pod;
    std::optional<framework::PodGroupState::Member> before{};
  };
  // What a mutation scope puts back.
  struct Scope {
    std::map<std::string, std::pair<NodeEntry*, framework::NodeInfo>> nodes;  // by name
    std::vector<Step> steps;                                                  // of members
  };

  void Put(NodeEntry& entry, const api::PodPtr& pod);
  framework::PodInfoPtr Take(NodeEntry& entry, const api::Pod& pod);
  Result<NodeEntry*> ToChange(std::string_view node, std::string_view caller);
  void Note(const api::PodPtr& pod);
  void Restore(NodeEntry& entry, framework::NodeInfo before);

  NodeEntries& entries_;
  AffinityLists& affinity_;
  PodGroups* const groups_;
  std::vector<Assumed> assumed_;
  std::optional<Scope> scope_;
};

}  // namespace ks::cache
