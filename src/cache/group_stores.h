// SPDX-License-Identifier: Apache-2.0
#pragma once
// GroupStores: the last known PodGroups and CompositePodGroups, and the children of each composite.
// Which pods are members is not their part. Empty and free of cost while nobody watches them.
//
// Upstream: docs/spec/cache.md sections 18.5 and 18.6.

#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/delta.h"
#include "api/kinds.h"
#include "base/string_map.h"
#include "cache/object_store.h"
#include "framework/optional_kinds.h"
#include "framework/pod_group_listers.h"

namespace ks::cache {

// One batch of one kind, as its reflector delivers it.
using GroupDeltas = api::GroupKinds::Into<api::DeltasOfOne>;

// Threads: the scheduling thread; workers read while a cycle runs. Copies are independent.
class GroupStores final : public framework::PodGroupLister {
 public:
  // Told after the stores have changed; `before` is null when the group is new, `after` when it is
  // gone. Not told of updates that have the resourceVersion which is known. Empty: nobody wants to
  // know.
  struct Observers {
    std::function<void(const api::PodGroupPtr& before, const api::PodGroupPtr& after)> pod_group;
    std::function<void(const api::CompositePodGroupPtr& before,
                       const api::CompositePodGroupPtr& after)>
        composite;
  };

  void Apply(const GroupDeltas& deltas, const Observers& observers);

  // Whether each of these kinds delivered its first full state. Kinds that are not kept here count
  // as delivered.
  bool Synced(framework::OptionalKinds kinds) const {
    return framework::AllSynced<api::GroupKinds>(kinds, synced_);
  }

  // All of them, ascending by namespace and name.
  std::vector<api::PodGroupPtr> PodGroups() const;

  api::PodGroupPtr FindPodGroup(const Symbol& ns, std::string_view name) const override;
  api::CompositePodGroupPtr FindCompositePodGroup(const Symbol& ns,
                                                  std::string_view name) const override;
  std::span<const framework::GroupPtr> ChildrenOf(const Symbol& ns,
                                                  std::string_view composite) const override;

 private:
  template <class T>
  class Handler;
  template <class... T>
  using Stores = std::tuple<ObjectStore<T>...>;

  void Link(const framework::GroupPtr& group);
  void Unlink(const framework::GroupPtr& group);

  api::GroupKinds::Into<Stores> stores_;
  // By "namespace/name" of the parent, in the order of ChildrenOf; no empty lists.
  StringMap<std::vector<framework::GroupPtr>> children_;
  framework::OptionalKinds synced_;
};

}  // namespace ks::cache
