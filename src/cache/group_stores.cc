// SPDX-License-Identifier: Apache-2.0
#include "cache/group_stores.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace ks::cache {

using framework::GroupPtr;
using framework::MetaOf;
using framework::SpecOf;

namespace {

std::string KeyOf(const Symbol& ns, std::string_view name) {
  std::string key(ns.view());
  key += '/';
  key += name;
  return key;
}

std::string ParentKeyOf(const GroupPtr& group) {
  return KeyOf(MetaOf(group).ns, SpecOf(group).parent_composite_pod_group_name);
}

// The order of children.
bool IsBefore(const GroupPtr& a, const GroupPtr& b) {
  const api::ObjectMeta& of_a = MetaOf(a);
  const api::ObjectMeta& of_b = MetaOf(b);
  if (of_a.creation_timestamp != of_b.creation_timestamp) {
    return of_a.creation_timestamp < of_b.creation_timestamp;
  }
  return std::pair(std::string_view(of_a.name), a.index()) <
         std::pair(std::string_view(of_b.name), b.index());
}

}  // namespace

template <class T>
class GroupStores::Handler final : public ObjectHandler<T> {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Observer = std::function<void(const Ptr& before, const Ptr& after)>;

  Handler(GroupStores& stores, const Observer& changed) : stores_(stores), changed_(changed) {}

  void Add(const Ptr& group) override {
    stores_.Link(group);
    if (changed_) changed_(nullptr, group);
  }
  void Update(const Ptr& before, const Ptr& after) override {
    stores_.Unlink(before);
    stores_.Link(after);
    if (before->meta.resource_version == after->meta.resource_version) return;
    if (changed_) changed_(before, after);
  }
  void Delete(const Ptr& group, bool) override {
    stores_.Unlink(group);
    if (changed_) changed_(group, nullptr);
  }

 private:
  GroupStores& stores_;
  const Observer& changed_;
};

void GroupStores::Link(const GroupPtr& group) {
  if (SpecOf(group).parent_composite_pod_group_name.empty()) return;
  std::vector<GroupPtr>& list = children_[ParentKeyOf(group)];
  list.insert(std::upper_bound(list.begin(), list.end(), group, IsBefore), group);
}

void GroupStores::Unlink(const GroupPtr& group) {
  if (SpecOf(group).parent_composite_pod_group_name.empty()) return;
  const auto found = children_.find(ParentKeyOf(group));
  KS_CHECK(found != children_.end(), "a parent has lost its children");
  const size_t erased = std::erase_if(found->second, [&group](const GroupPtr& child) {
    return child.index() == group.index() && MetaOf(child).name == MetaOf(group).name;
  });
  KS_CHECK(erased == 1, "a child is in its parent's list once");
  if (found->second.empty()) children_.erase(found);
}

void GroupStores::Apply(const GroupDeltas& deltas, const Observers& observers) {
  const auto apply = [this]<class T>(const std::vector<api::Delta<T>>& of_kind,
                                     const typename Handler<T>::Observer& changed) {
    Handler<T> handler(*this, changed);
    for (const api::Delta<T>& delta : of_kind) {
      std::get<ObjectStore<T>>(stores_).Apply(delta, handler);
      if (delta.type == api::Delta<T>::Type::kReplace) synced_.Add(framework::kOptionalKindOf<T>);
    }
  };
  if (const auto* groups = std::get_if<std::vector<api::Delta<api::PodGroup>>>(&deltas)) {
    apply(*groups, observers.pod_group);
  } else {
    apply(std::get<std::vector<api::Delta<api::CompositePodGroup>>>(deltas), observers.composite);
  }
}

std::vector<api::PodGroupPtr> GroupStores::PodGroups() const {
  return std::get<ObjectStore<api::PodGroup>>(stores_).List();
}

api::PodGroupPtr GroupStores::FindPodGroup(const Symbol& ns, std::string_view name) const {
  return std::get<ObjectStore<api::PodGroup>>(stores_).Get(KeyOf(ns, name));
}

api::CompositePodGroupPtr GroupStores::FindCompositePodGroup(const Symbol& ns,
                                                             std::string_view name) const {
  return std::get<ObjectStore<api::CompositePodGroup>>(stores_).Get(KeyOf(ns, name));
}

std::span<const GroupPtr> GroupStores::ChildrenOf(const Symbol& ns,
                                                  std::string_view composite) const {
  const auto found = children_.find(KeyOf(ns, composite));
  if (found == children_.end()) return {};
  return found->second;
}

}  // namespace ks::cache
