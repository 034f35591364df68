// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/node_prefer_avoid_pods/node_prefer_avoid_pods.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "plugins/kit/legacy.h"

namespace ks::plugins {
namespace {

using framework::NodeInfo;
using framework::Status;
using nlohmann::json;

// A member of an object that may be missing or null, else must be of the type. Null when absent.
const json* Member(const json& object, const char* name, json::value_t type, bool* malformed) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return nullptr;
  if (found->type() == type) return &*found;
  *malformed = true;
  return nullptr;
}

bool NamesController(const json& entry, const api::OwnerReference& owner, bool* malformed) {
  if (entry.is_null()) return false;
  if (!entry.is_object()) {
    *malformed = true;
    return false;
  }
  const json* signature = Member(entry, "podSignature", json::value_t::object, malformed);
  if (signature == nullptr) return false;
  const json* controller = Member(*signature, "podController", json::value_t::object, malformed);
  if (controller == nullptr) return false;
  const json* kind = Member(*controller, "kind", json::value_t::string, malformed);
  const json* uid = Member(*controller, "uid", json::value_t::string, malformed);
  return (kind == nullptr ? "" : kind->get_ref<const std::string&>()) == owner.kind &&
         (uid == nullptr ? "" : uid->get_ref<const std::string&>()) == owner.uid;
}

// Whether the annotation asks the owner's pods to stay away. A malformed one asks for nothing.
bool Avoids(const std::string& annotation, const api::OwnerReference& owner) {
  const json root = json::parse(annotation, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return false;
  bool malformed = false;
  const json* entries = Member(root, "preferAvoidPods", json::value_t::array, &malformed);
  if (entries == nullptr) return false;
  bool avoids = false;
  for (const json& entry : *entries) avoids |= NamesController(entry, owner, &malformed);
  return avoids && !malformed;
}

class NodePreferAvoidPods final : public framework::Plugin, public framework::ScorePlugin {
 public:
  std::string_view Name() const override { return kNodePreferAvoidPodsName; }

  Status Score(const framework::CycleState&, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    *score = framework::kMaxNodeScore;
    const api::OwnerReference* owner = pod.meta.Controller();
    if (owner == nullptr ||
        (owner->kind != "ReplicationController" && owner->kind != "ReplicaSet")) {
      return {};
    }
    const std::string* annotation = node.node()->meta.annotations.Find(annotation_);
    if (annotation != nullptr && Avoids(*annotation, *owner)) *score = 0;
    return {};
  }

 private:
  const Symbol annotation_{"scheduler.alpha.kubernetes.io/preferAvoidPods"};
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodePreferAvoidPods(const config::PluginArgs& args,
                                                                  framework::Handle& handle) {
  if (const ArgsFaults faults = NoArgsFaults(args); !faults.empty()) return FirstOf(faults);
  WarnLegacy(kNodePreferAvoidPodsName, "taints with the effect PreferNoSchedule", handle);
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodePreferAvoidPods>());
}

}  // namespace ks::plugins
