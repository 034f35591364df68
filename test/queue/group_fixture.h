// SPDX-License-Identifier: Apache-2.0
#pragma once
// A queue with pod groups, and a forest of them that stands for the cache's.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "queue_fixture.h"

namespace ks::queue::testing {

using framework::PodGroupKey;

inline PodGroupKey Leaf(const std::string& name) { return {.ns = Symbol("ns"), .name = name}; }
inline PodGroupKey Composite(const std::string& name) {
  return {.ns = Symbol("ns"), .name = name, .composite = true};
}

// All in the namespace "ns"; age is the order of creation.
class FakeForest final : public framework::PodGroupStates {
 public:
  struct Object {
    std::string parent;  // empty: a root
    int32_t priority = 0;
    int age = 0;
  };

  void Put(const PodGroupKey& key, const std::string& parent = "", int32_t priority = 0) {
    objects_[Id(key)] = {.parent = parent, .priority = priority, .age = next_age_++};
  }
  void Remove(const PodGroupKey& key) { objects_.erase(Id(key)); }
  bool Has(const PodGroupKey& key) const { return objects_.contains(Id(key)); }

  const framework::PodGroupState* Find(const Symbol&, std::string_view) const override {
    return nullptr;
  }
  std::shared_ptr<const api::CompositePodGroup> FindComposite(const Symbol&,
                                                              std::string_view) const override {
    return nullptr;
  }
  std::optional<PodGroupKey> RootOf(const PodGroupKey& group) const override {
    PodGroupKey at = group;
    for (size_t steps = 0; steps <= objects_.size(); ++steps) {
      const auto object = objects_.find(Id(at));
      if (object == objects_.end()) return std::nullopt;
      if (object->second.parent.empty()) return at;
      at = Composite(object->second.parent);
    }
    return std::nullopt;  // a circle
  }
  std::vector<PodGroupKey> ChildrenOf(const PodGroupKey& group) const override {
    std::vector<std::pair<int, PodGroupKey>> children;
    if (!group.composite) return {};
    for (const auto& [id, object] : objects_) {
      if (object.parent != group.name) continue;
      children.emplace_back(object.age, id.second ? Composite(id.first) : Leaf(id.first));
    }
    std::sort(children.begin(), children.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second.name) < std::tie(b.first, b.second.name);
    });
    std::vector<PodGroupKey> keys;
    for (auto& [age, key] : children) keys.push_back(std::move(key));
    return keys;
  }
  int32_t PriorityOf(const PodGroupKey& group) const override {
    const auto object = objects_.find(Id(group));
    return object == objects_.end() ? 0 : object->second.priority;
  }
  Symbol PolicyOf(const PodGroupKey&) const override { return {}; }

 private:
  using Name = std::pair<std::string, bool>;
  static Name Id(const PodGroupKey& key) { return {key.name, key.composite}; }

  std::map<Name, Object> objects_;
  int next_age_ = 0;
};

class GroupFixture : public QueueTest {
 protected:
  static constexpr ClusterEvent kPodAdd{EventResource::kUnscheduledPod, framework::kActionAdd, {}};

  SchedulingQueue& MakeWithGroups(Registrations registrations = DefaultRegistrations(),
                                  std::function<void(SchedulingQueueOptions&)> change = {}) {
    return Make(std::move(registrations), [&](SchedulingQueueOptions& options) {
      options.groups = &forest_;
      if (change) change(options);
    });
  }
  GroupQueue& groups() { return *queue_->groups(); }

  static ks::testing::PodBuilder MemberOf(const std::string& group, const std::string& name) {
    ks::testing::PodBuilder pod = ks::testing::MakePod().Name(name).Namespace("ns");
    pod.spec().scheduling_group = group;
    return pod;
  }
  api::PodPtr AddMember(const std::string& group, const std::string& name,
                        std::vector<std::string> gates = {}) {
    const api::PodPtr pod = MemberOf(group, name).Gates(std::move(gates)).Obj();
    queue_->Add(pod);
    return pod;
  }
  void AddGroup(const PodGroupKey& key, const std::string& parent = "", int32_t priority = 0) {
    forest_.Put(key, parent, priority);
    groups().OnGroupAdd(key);
  }
  void RemoveGroup(const PodGroupKey& key) {
    forest_.Remove(key);
    groups().OnGroupDelete(key);
  }
  framework::QueuedPodGroupPtr PopGroup() {
    const Popped popped = queue_->Pop();
    EXPECT_TRUE(popped.pod == nullptr && popped.group != nullptr) << "no group";
    return popped.group;
  }
  // The members of a popped group come back, rejected by the plugins (none: with an error).
  void FailMembers(const framework::QueuedPodGroup& group, const std::set<std::string>& plugins) {
    for (const auto& leaf : group.leaves) {
      for (const framework::QueuedPodPtr& pod : leaf.members) Fail(pod, plugins);
    }
  }
  // An attempt in which nobody finds a node.
  framework::QueuedPodGroupPtr PopAndReturn(ReturnStatus status,
                                            const std::set<std::string>& plugins = {"X"}) {
    framework::QueuedPodGroupPtr group = PopGroup();
    if (group == nullptr) return nullptr;
    FailMembers(*group, plugins);
    EXPECT_TRUE(groups().Return(group, status).ok());
    return group;
  }
  const framework::QueuedPodGroup& Entity(const std::string& root) {
    const GroupRecord* record = groups().Find(Leaf(root));
    EXPECT_NE(record, nullptr) << root;
    return *record->group;
  }

  // "a b": a popped group's members in their order; leaves apart by " | ".
  static std::string Names(const framework::QueuedPodGroup& group) {
    std::string text;
    for (const auto& leaf : group.leaves) {
      text += (text.empty() ? "" : " | ");
      for (const auto& pod : leaf.members) {
        text += (&pod == leaf.members.data() ? "" : " ") + pod->pod()->meta.name;
      }
    }
    return text;
  }
  // "active g[a b]; incomplete c": everything that is stored.
  std::string Stored() const {
    std::map<std::string, std::set<std::string>> names;
    queue_->stores().ForEach([&](const Record& record) {
      std::string place = PlaceText(record);
      if (const Record& home = EntityOf(record); &home != &record) {
        EXPECT_EQ(home.store, record.store);
        EXPECT_EQ(home.gated, record.gated);
        place += " " + static_cast<const GroupRecord&>(home).group->root().name;
      }
      EXPECT_TRUE(names[place].insert(record.pod->pod()->meta.name).second);
    });
    std::string text;
    for (const auto& [place, pods] : names) {
      text += (text.empty() ? "" : "; ") + place + "[";
      for (const std::string& pod : pods) text += (pod == *pods.begin() ? "" : " ") + pod;
      text += "]";
    }
    return text;
  }
  static std::string PlaceText(const Record& record) {
    switch (record.store) {
      case Store::kActive:
        return "active";
      case Store::kBackoff:
        return "backoff";
      case Store::kErrorBackoff:
        return "error";
      case Store::kUnschedulable:
        return record.gated ? "gated" : "parked";
      case Store::kIncomplete:
        return "incomplete";
      case Store::kPending:
        return "pending";
      case Store::kNone:
        break;
    }
    return "nowhere";
  }

  FakeForest forest_;
};

}  // namespace ks::queue::testing
