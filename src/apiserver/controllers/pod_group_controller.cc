// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/pod_group_controller.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "apiserver/registry/strategy.h"
#include "apiserver/store/json_fields.h"
#include "apiserver/store/log_cursor.h"

namespace ks::apiserver {
namespace {

// Objects by namespace and name.
using Key = std::pair<std::string, std::string>;

Key KeyOf(const StoredObject& object) { return {object.ns, object.name}; }

// The group that an active pod is a member of; an empty name: none.
std::string GroupOf(const StoredObject& pod) {
  if (pod.text.find("\"schedulingGroup\":{") == std::string::npos) return "";
  const Json json = pod.Parse();
  const Json* phase = Find(json, "status", "phase");
  if (phase != nullptr && (*phase == "Succeeded" || *phase == "Failed")) return "";
  const Json* group = Find(json, "spec", "schedulingGroup");
  return group == nullptr ? "" : Text(*group, "podGroupName");
}

class PodGroupController final : public Controller {
 public:
  explicit PodGroupController(Service& service)
      : registry_(service.registry()), store_(service.store()), clock_(service.clock()) {}

  void Step() override {
    if (pod_log_.Lost() || group_log_.Lost()) return Rebuild();
    while (const Change* change = pod_log_.Next()) ReadPod(*change);
    while (const Change* change = group_log_.Next()) Release(KeyOf(*change->object));
  }
  std::optional<TimePoint> NextDue() const override {
    if (pod_log_.Unread() || group_log_.Unread()) return clock_.Now();
    return std::nullopt;
  }

 private:
  void Rebuild() {
    pod_log_.Restart();
    group_log_.Restart();
    members_.clear();
    groups_.clear();
    for (const auto& [key, pod] : store_.objects(pod_kind_)) Join(*pod);
    std::set<Key> groups;
    for (const auto& [key, group] : store_.objects(group_kind_)) groups.insert(KeyOf(*group));
    for (const Key& group : groups) Release(group);
  }

  void Join(const StoredObject& pod) {
    const std::string group = GroupOf(pod);
    if (group.empty()) return;
    members_[{pod.ns, group}].insert(pod.name);
    groups_[KeyOf(pod)] = group;
  }

  void ReadPod(const Change& change) {
    const StoredObject& pod = *change.object;
    const auto known = groups_.find(KeyOf(pod));
    const Key former = known == groups_.end() ? Key() : Key(pod.ns, known->second);
    if (known != groups_.end()) {
      const auto members = members_.find(former);
      members->second.erase(pod.name);
      if (members->second.empty()) members_.erase(members);
      groups_.erase(known);
    }
    if (change.type != Change::Type::kDeleted) Join(pod);
    if (!former.second.empty()) Release(former);
  }

  // Takes the finalizer off if nothing keeps it.
  void Release(const Key& key) {
    if (members_.contains(key)) return;
    const ObjectPtr found = store_.Find(group_kind_, key.first, key.second);
    if (found == nullptr) return;
    const Json group = found->Parse();
    const Json* finalizers = Find(group, "metadata", "finalizers");
    const bool deleting = Find(group, "metadata", "deletionTimestamp") != nullptr;
    if (!deleting || finalizers == nullptr) return;
    Json kept = Json::array();
    for (const Json& finalizer : *finalizers) {
      if (finalizer != kGroupProtection) kept.push_back(finalizer);
    }
    if (kept.size() == finalizers->size()) return;
    registry_.OverwriteIfThere(group_kind_, key.first, key.second,
                               [&kept](Json& json) { json["metadata"]["finalizers"] = kept; });
  }

  const KindInfo& pod_kind_ = *FindResource("", "v1", "pods");
  const KindInfo& group_kind_ = *FindResource("scheduling.k8s.io", "v1beta1", "podgroups");

  Registry& registry_;
  Store& store_;
  const Clock& clock_;
  LogCursor pod_log_{store_, pod_kind_};
  LogCursor group_log_{store_, group_kind_};
  std::map<Key, std::set<std::string>> members_;  // active pods by group; no empty sets
  std::map<Key, std::string> groups_;             // the other way round
};

}  // namespace

std::unique_ptr<Controller> NewPodGroupController(Service& service) {
  return std::make_unique<PodGroupController>(service);
}

}  // namespace ks::apiserver
